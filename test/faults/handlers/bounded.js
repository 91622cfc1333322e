import { defineHandler } from 'taskdeck'
import { ledgerWork } from '../handler-parts/ledger-work.js'

export default defineHandler({
  type: 'bounded',
  description: 'The same, of which only a few may be unfinished',
  ...ledgerWork
})
