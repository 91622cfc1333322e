import { parseProfile } from '../../schema-profiles/index.ts'

/** A table with one state that waits. */
export const jobsProfile = parseProfile(
  JSON.stringify({
    format: 1,
    name: 'Jobs',
    table: 'jobs',
    id: 'id',
    type: { column: 'kind' },
    times: { at: { kind: 'datetime', zone: 'UTC' } },
    states: [{ name: 'new', state: 'QUEUED', when: [{ column: 'state', in: ['new'] }], since: 'at' }]
  }),
  'jobs.json'
)
