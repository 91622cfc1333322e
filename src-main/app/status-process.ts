import { join } from 'node:path'
import { statusMain } from './outside/status-main.ts'

/*
 * `npm run status -- ...`: how a queue is, for people and scripts; see docs/outside.md.
 */

await statusMain(process.argv.slice(2), join(import.meta.dirname, '../..'))
