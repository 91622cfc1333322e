import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import { localConnectionId, type AccessMode, type ConnectionDraft, type ConnectionView, type TestStep } from '@contract'
import { useClient } from '@/transport/client.ts'

/** All connections with their link states, and which one the page is on. Actions reject with what `toProblem` reads. */
export const useConnectionsStore = defineStore('connections', () => {
  const all = shallowRef<readonly ConnectionView[]>([])
  const loaded = ref(false)
  /** Follows the route; pages that belong to no connection keep the last one. */
  const currentId = ref<string>(localConnectionId)
  const current = computed(() => byId(currentId.value))

  function byId(id: string): ConnectionView | undefined {
    return all.value.find((connection) => connection.id === id)
  }

  function replaceAll(connections: readonly ConnectionView[]): void {
    all.value = connections
    loaded.value = true
  }

  /** What a call returned may be newer than the last event. */
  function put(view: ConnectionView): ConnectionView {
    const known = byId(view.id) !== undefined
    all.value = known ? all.value.map((one) => (one.id === view.id ? view : one)) : [...all.value, view]
    return view
  }

  const test = (draft: ConnectionDraft, signal: AbortSignal): Promise<AsyncIterable<TestStep>> =>
    useClient().connections.test(draft, { signal })

  const save = async (draft: ConnectionDraft): Promise<ConnectionView> => put(await useClient().connections.save(draft))

  const profiles = (): Promise<{ name: string; text: string }[]> => useClient().connections.profiles()

  async function remove(connectionId: string): Promise<void> {
    await useClient().connections.remove({ connectionId })
    all.value = all.value.filter((connection) => connection.id !== connectionId)
  }

  const unlock = async (connectionId: string, password: string): Promise<ConnectionView> =>
    put(await useClient().connections.unlock({ connectionId, password }))

  const setAccessMode = async (
    connectionId: string,
    accessMode: AccessMode,
    confirmation: string
  ): Promise<ConnectionView> =>
    put(await useClient().connections.setAccessMode({ connectionId, accessMode, confirmation }))

  const schemaPlan = (connectionId: string): Promise<{ migration: string; sql: string }[]> =>
    useClient().connections.schemaPlan({ connectionId })

  /** `planHash` stands for the statements that the reader has seen. */
  const migrate = async (connectionId: string, planHash: string): Promise<ConnectionView> =>
    put(await useClient().connections.migrate({ connectionId, planHash }))

  const retryNow = (connectionId: string): Promise<void> => useClient().connections.retryNow({ connectionId })

  return {
    all,
    loaded,
    currentId,
    current,
    byId,
    replaceAll,
    test,
    save,
    profiles,
    remove,
    unlock,
    setAccessMode,
    schemaPlan,
    migrate,
    retryNow
  }
})
