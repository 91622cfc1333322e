import type { Delivery } from '../kernel/index.ts'
import { requireRoom, unknownId } from './alert-faults.ts'
import type { AlertStore } from './alert-store.ts'
import type { NotifierRecords, StoredNotifier } from './alerts-port.ts'
import type { FileGuard } from './file-guard.ts'

export class FileNotifierRecords implements NotifierRecords {
  private readonly store: AlertStore
  private readonly file: FileGuard

  constructor(store: AlertStore, file: FileGuard) {
    this.store = store
    this.file = file
  }

  notifiers(): StoredNotifier[] {
    return this.file.asked(() => this.store.notifiers())
  }

  saveNotifier(notifier: StoredNotifier): void {
    const known = this.notifiers()
    if (!known.some(({ id }) => id === notifier.id)) requireRoom('notifiers', known.length)
    this.file.asked(() => this.store.putNotifier(notifier))
  }

  removeNotifier(notifierId: string): void {
    if (!this.notifiers().some(({ id }) => id === notifierId)) throw unknownId('notifier')
    this.file.asked(() => this.store.dropNotifier(notifierId))
  }

  saveDelivery(delivery: Delivery): void {
    this.file.quietly(() => this.store.putDelivery(delivery))
  }

  wasSent(notifierId: string, incidentId: string): boolean {
    return this.file.readOr(false, () => this.store.wasSent(notifierId, incidentId))
  }

  deliveries(): Delivery[] {
    return this.file.asked(() => this.store.deliveries())
  }
}
