import { failOver, killDatabase, troubleStatements } from './database.ts'
import type { Injection } from './injection.ts'
import { cutLinks, oneWay, pauseLink } from './network.ts'
import { freezeProcess, killProcess, terminateProcess, wrongClocks } from './processes.ts'
import { pressRetryTwice } from './operators.ts'

export { faultIds, withoutFakeTime, fakeTimeLibrary, type FaultId, type Injection } from './injection.ts'

export const injections: readonly Injection[] = [
  killProcess,
  killDatabase,
  cutLinks,
  pauseLink,
  oneWay,
  freezeProcess,
  wrongClocks,
  troubleStatements,
  pressRetryTwice,
  failOver,
  terminateProcess
]
