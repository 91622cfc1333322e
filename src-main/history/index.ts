export { openHistory } from './open-history.ts'
export type { History, HistoryOptions, HistoryQuery, HistorySeries, HistoryWindow } from './history-port.ts'
export type { LastReading, Tick } from './history-store.ts'
