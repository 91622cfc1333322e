export type { Condition } from './conditions.ts'
export { parseProfile, tablePlace, typeColumn, type TablePlace, type TableProfile } from './profile.ts'
export {
  compileProfile,
  mostCounted,
  type BoundProbe,
  type CompiledProfile,
  type SliceProbes,
  type TypeProbes
} from './compile.ts'
export type { FlowProbe } from './compile-flow.ts'
export { columnsProbe, columnsProbeValues, requireColumns } from './column-check.ts'
export { indexesOf, indexesProbe } from './table-indexes.ts'
export { decodeTime } from './time-encoding.ts'
export { unknownFigures } from './unknown-figures.ts'
