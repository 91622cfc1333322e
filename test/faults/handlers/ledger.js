import { defineHandler } from 'taskdeck'
import { ledgerWork } from '../handler-parts/ledger-work.js'

export default defineHandler({
  type: 'ledger',
  description: 'Writes one row into the ledger of a fault run',
  ...ledgerWork
})
