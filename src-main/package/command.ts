#!/usr/bin/env node
import { join } from 'node:path'
import { statusMain } from '../app/outside/status-main.ts'

/*
 * `taskdeck status ...` of an installed package. The build puts this file into `out/package`.
 */

const [command, ...args] = process.argv.slice(2)
if (command === 'status') await statusMain(args, join(import.meta.dirname, '../..'))
else {
  process.stderr.write('usage: taskdeck status [options]; taskdeck status --help says more\n')
  process.exitCode = 2
}
