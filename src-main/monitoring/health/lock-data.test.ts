import { describe, expect, it } from 'vitest'
import { tableOf, taskIdOf } from './lock-data.ts'

describe('the task of a lock', () => {
  it.each([
    ['PRIMARY', '42', '42'],
    ['taskdeck_task_claim', `5, 'mail.send', 0x99BF3C, 42, 'QUEUED'`, '42'],
    ['taskdeck_task_turn', `5, 'mail.send', 'a, b''c', 0x99BF3C, 42`, '42'],
    ['taskdeck_task_lease', `0x99BF3C, 'RUNNING', 'mail', 'acme', 18446744073709551615`, '18446744073709551615'],
    ['PRIMARY', 'supremum pseudo-record', null],
    ['taskdeck_task_claim', `5, 'mail.send'`, null],
    ['taskdeck_task_lease', `NULL, 'hunter2'`, null],
    ['PRIMARY', '', null]
  ])('in index %s of entry %s is %s', (index, lockData, id) => expect(taskIdOf(index, lockData)).toBe(id))

  it('is unknown without an index or an entry', () => {
    expect(taskIdOf(null, '42')).toBeNull()
    expect(taskIdOf('PRIMARY', null)).toBeNull()
  })
})

describe('the table of a lock', () => {
  it.each([
    ['`orders`.`taskdeck_task`', 'taskdeck_task'],
    ['`orders`.`odd``name`', 'odd`name'],
    ['orders/taskdeck_task', 'taskdeck_task'],
    ['taskdeck_task', 'taskdeck_task']
  ])('%s is %s', (name, table) => expect(tableOf(name)).toBe(table))
})
