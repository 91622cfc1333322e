import { expect, it } from 'vitest'
import { AppError } from '../kernel/index.ts'
import { silentLog } from '../../test/support/silent-log.ts'
import { Notices } from './notices.ts'

const failed = (what: string): AppError => new AppError('DELIVERY_FAILED', 'operational', what)

it('keeps the newest for pages that open later, and one of what comes again and again', () => {
  const notices = new Notices(silentLog)
  for (let n = 0; n < 25; n++) notices.add(failed(`message ${n}`))
  for (let n = 0; n < 30; n++) notices.add(failed('the same'))
  notices.add(new AppError('DISK_FULL', 'operational', 'The disk is full.'))
  const kept = notices.all().map(({ message }) => message)
  expect(kept).toHaveLength(20)
  expect(kept.slice(-3)).toEqual(['message 24', 'the same', 'The disk is full.'])
})
