// Writes the sample file of the CSV import: node resources/demo/make-import.mjs OUT [rows] [bad]
// The same arguments give the same bytes: tests and the page count on the numbers.
import { writeFileSync } from 'node:fs'

const faults = [
  (row) => ({ ...row, email: 'not an address' }),
  (row) => ({ ...row, amount: 'twelve' }),
  (row) => ({ ...row, ordered_on: '2026-02-30' }),
  (row) => ({ ...row, customer: '' }),
  (row) => ({ ...row, order_no: '', amount: '' })
]
const names = ['Ada Lovelace', 'Grace Hopper', '王小明', 'Zoë Müller', "Seán O'Neill", 'José García', 'Łucja Nowak']
const notes = ['', 'gift', 'says "hello", twice', 'two\nlines', '=1+1', '🎩']

/** CSV text with `rows` rows after the header, `bad` of them not importable, spread evenly. */
export function makeImport(rows = 10_000, bad = 200) {
  const random = generator(20_260_401)
  const lines = ['order_no,customer,email,amount,ordered_on,note']
  let faulty = 0
  for (let number = 1; number <= rows; number++) {
    const customer = names[random(names.length)]
    const good = {
      order_no: `A-${String(number).padStart(6, '0')}`,
      customer,
      email: `customer${random(100_000)}@example.com`,
      amount: (random(100_000) / 100).toFixed(2),
      ordered_on: `2026-${two(1 + random(12))}-${two(1 + random(28))}`,
      note: notes[random(notes.length)]
    }
    const isBad = Math.floor((number * bad) / rows) > Math.floor(((number - 1) * bad) / rows)
    const row = isBad ? faults[faulty++ % faults.length](good) : good
    lines.push(Object.values(row).map(cell).join(','))
  }
  return `${lines.join('\n')}\n`
}

const two = (value) => String(value).padStart(2, '0')
const cell = (text) => (/[",\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text)

/** A linear congruential generator: whole numbers below `limit`. */
function generator(seed) {
  let state = seed
  return (limit) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * limit)
  }
}

if (process.argv[1] === import.meta.filename) {
  const [out, rows = '10000', bad = '200'] = process.argv.slice(2)
  if (out === undefined || !/^\d+$/.test(rows) || !/^\d+$/.test(bad) || Number(bad) > Number(rows)) {
    console.error('Usage: node resources/demo/make-import.mjs OUT [rows] [bad]')
    process.exit(2)
  }
  writeFileSync(out, makeImport(Number(rows), Number(bad)))
}
