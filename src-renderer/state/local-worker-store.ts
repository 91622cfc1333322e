import { defineStore } from 'pinia'
import { computed, ref, shallowRef } from 'vue'
import { localConnectionId, type LocalWorkerView, type SampleKind, type WorkerLogLine } from '@contract'
import { useClient } from '@/transport/client.ts'

/** Log lines the page keeps; the app keeps 200 itself. */
const keptLines = 1_000

/** The worker pool inside the app. Actions reject with what `toProblem` reads. */
export const useLocalWorkerStore = defineStore('localWorker', () => {
  const view = shallowRef<LocalWorkerView | null>(null)
  const log = shallowRef<readonly WorkerLogLine[]>([])

  /** Where it will work once it is started. Not a draft of its page: the frame shows this queue's header there. */
  const chosenId = ref<string>(localConnectionId)
  /** A running worker decides where tasks go; a stopped one follows the choice. */
  const targetId = computed(() =>
    view.value && view.value.status !== 'stopped' ? view.value.connectionId : chosenId.value
  )

  function replace(next: LocalWorkerView): void {
    view.value = next
  }

  function appendLog(lines: readonly WorkerLogLine[]): void {
    const lastSeq = log.value.at(-1)?.seq ?? 0
    log.value = [...log.value, ...lines.filter(({ seq }) => seq > lastSeq)].slice(-keptLines)
  }

  async function load(): Promise<void> {
    const client = useClient()
    const [worker, lines] = await Promise.all([client.localWorker.get(), client.localWorker.log()])
    view.value = worker
    log.value = lines
  }

  /** `confirmation`: the name of a production connection, as it was typed. */
  async function start(how: {
    connectionId: string
    slots: number
    handlersDir: string | null
    confirmation?: string
  }): Promise<void> {
    view.value = await useClient().localWorker.start(how)
  }

  async function stop(): Promise<void> {
    view.value = await useClient().localWorker.stop()
  }

  async function resize(slots: number): Promise<void> {
    view.value = await useClient().localWorker.resize({ slots })
  }

  async function startSample(connectionId: string, kind: SampleKind): Promise<void> {
    view.value = await useClient().localWorker.startSample({ connectionId, kind })
  }

  async function stopSample(): Promise<void> {
    view.value = await useClient().localWorker.stopSample()
  }

  /** One click from nothing to a moving queue: starts the worker when it does not run, then the sample. */
  async function runSample(connectionId: string, kind: SampleKind, slots = 4): Promise<void> {
    const handlersDir = view.value?.handlersDir ?? null
    if (view.value?.status !== 'running') await start({ connectionId, slots, handlersDir })
    await startSample(connectionId, kind)
  }

  return {
    view,
    chosenId,
    targetId,
    log,
    replace,
    appendLog,
    load,
    start,
    stop,
    resize,
    startSample,
    stopSample,
    runSample
  }
})
