import { defineHandler } from 'taskdeck'
import { ledgerWork } from '../handler-parts/ledger-work.js'

export default defineHandler({
  type: 'limited',
  description: 'The same, of which only a few may run at once',
  ...ledgerWork
})
