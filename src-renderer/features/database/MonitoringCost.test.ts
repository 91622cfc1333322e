import { mount } from '@vue/test-utils'
import { expect, it } from 'vitest'
import { probeNames } from '@contract'
import { i18n } from '@/shared/i18n/i18n.ts'
import { readingAt } from '@/testing/demo-queue.ts'
import MonitoringCost from './MonitoringCost.vue'

it.each(['schema', 'data'] as const)('names figures as other pages do, and says why they are missing: %s', (reason) => {
  const limits = probeNames.map((probe) => ({ probe, reason, index: null }))
  const reading = readingAt({ types: [], failingSinceMs: null, workers: 0, silent: 0, gap: null, startedAt: 0 }, 0)
  const wrapper = mount(MonitoringCost, {
    props: { reading: { ...reading, limits }, costMs: 1, statements: null },
    global: { plugins: [i18n] }
  })
  const lines = wrapper.findAll('.limit').map((line) => line.text())
  expect(lines).toHaveLength(probeNames.length)
  expect(lines.join('\n')).not.toMatch(/^(retries|durations|submitted)|database\.cost/m)
  expect(lines.find((line) => line.startsWith('Retry rate'))).toContain(
    reason === 'schema' ? 'the table has no attempts' : 'some rows have no time'
  )
})
