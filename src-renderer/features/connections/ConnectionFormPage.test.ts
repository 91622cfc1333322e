import { flushPromises } from '@vue/test-utils'
import { NSelect } from 'naive-ui'
import { afterEach, describe, expect, it, vi } from 'vitest'
import type { TestStep } from '@contract'
import { withForeignTable } from '@/testing/foreign.ts'
import { problemError } from '@/testing/fake-client.ts'
import { labelled } from '@/testing/labels.ts'
import { mountPage, type MountedPage } from '@/testing/mount-page.ts'
import { makeScene, refused, type SceneName } from '@/testing/scenes.ts'
import ConnectionFields from './ConnectionFields.vue'
import ConnectionFormPage from './ConnectionFormPage.vue'
import { emptyForm } from './connection-form.ts'

vi.setConfig({ testTimeout: 30_000 })
let page: MountedPage
const open = async (path = '/connections/new', scene: SceneName = 'healthy'): Promise<void> => {
  page = await mountPage(ConnectionFormPage, makeScene(scene, 0), path, () => 0)
}
const calls = (path: string): unknown[] => page.app.calls.filter((call) => call.path === path).map((call) => call.input)
const press = async (what: 'test' | 'save'): Promise<void> => {
  await page.wrapper.find(`[data-test=${what}]`).trigger('click')
  await flushPromises()
}
async function fill(): Promise<void> {
  const values = { name: 'lab', host: 'db.example', database: 'queue', user: 'taskdeck', password: 's3cret' }
  for (const [name, value] of Object.entries(values)) await page.wrapper.find(`input[name=${name}]`).setValue(value)
}
async function* steps(...list: TestStep[]): AsyncGenerator<TestStep> {
  for (const step of list) {
    await Promise.resolve()
    yield step
  }
}

afterEach(() => page.wrapper.unmount())

describe('ConnectionFormPage', () => {
  it('binds each label to what it is the label of', async () => {
    await open()
    page.wrapper.findComponent(ConnectionFields).vm.$emit('update:modelValue', { ...emptyForm(true), tls: 'required' })
    await flushPromises()
    const fields = {
      Name: 'name',
      Host: 'host',
      Port: 'port',
      Database: 'database',
      User: 'user',
      Password: 'password'
    }
    for (const [label, name] of Object.entries(fields))
      expect(labelled(page.wrapper, label).getAttribute('name')).toBe(name)
    expect(labelled(page.wrapper, 'Environment').getAttribute('role')).toBe('radiogroup')
    expect(labelled(page.wrapper, 'Access').getAttribute('role')).toBe('radiogroup')
    expect(labelled(page.wrapper, 'TLS').classList).toContain('n-select')
    expect(labelled(page.wrapper, 'Certificate authority (PEM)').tagName).toBe('TEXTAREA')
  })

  it('says which fields are missing instead of calling the app', async () => {
    await open()
    await press('save')
    expect(page.wrapper.text()).toContain('Enter a host name or address.')
    expect(calls('connections.save')).toEqual([])
  })

  it('chooses read-only for a new production connection', async () => {
    await open()
    await fill()
    const production = page.wrapper.findAll('[role=radio]').find((one) => one.text() === 'Production')!
    await production.trigger('click')
    await press('save')
    expect(calls('connections.save')[0]).toMatchObject({ environment: 'production', accessMode: 'read-only' })
  })

  it('makes a writing connection read-only when it becomes production, and says so', async () => {
    await open('/connections/clinic-staging/edit')
    expect(page.wrapper.find('[data-test=access-note]').text()).toContain('Tasks can be retried')
    await page.wrapper
      .findAll('[role=radio]')
      .find((one) => one.text() === 'Production')!
      .trigger('click')
    expect(page.wrapper.find('[data-test=access-note]').text()).toContain('Production is saved read-only')
    expect(page.wrapper.find<HTMLInputElement>('input[value=read-write]').element.disabled).toBe(true)
    await press('save')
    expect(calls('connections.save')[0]).toMatchObject({ environment: 'production', accessMode: 'read-only' })
  })

  describe('with another application’s table', () => {
    const choose = async (): Promise<void> => {
      await page.wrapper.find('input[value=other]').setValue()
      await flushPromises()
    }
    const profile = () => page.wrapper.find<HTMLTextAreaElement>('#connection-profile')

    it('is read-only and says so, and begins with a profile that comes with Taskdeck', async () => {
      await open()
      await fill()
      expect(profile().exists()).toBe(false)
      await choose()
      expect(page.wrapper.find('[data-test=access-note]').text()).toContain('Taskdeck reads it and changes nothing')
      expect(page.wrapper.find<HTMLInputElement>('input[value=read-write]').element.disabled).toBe(true)
      await press('save')
      expect(page.wrapper.text()).toContain('Paste a profile, or start from one above.')
      expect(calls('connections.save')).toEqual([])
      const begin = page.wrapper
        .findAllComponents(NSelect)
        .find((one) => one.attributes('aria-labelledby') === 'connection-begin-label')!
      begin.vm.$emit('update:value', (begin.props('options') as { value: string }[])[0]?.value)
      await flushPromises()
      expect(profile().element.value).toContain('"table": "jobs"')
      await press('save')
      expect(calls('connections.save')[0]).toMatchObject({
        accessMode: 'read-only',
        profile: expect.stringContaining('"table": "jobs"') as string
      })
    })

    it('says at the field what is wrong with the profile, until it changes', async () => {
      await open()
      await fill()
      await choose()
      await profile().setValue('{ }')
      const message = 'The profile of this connection cannot be used:\n  format: is missing'
      const problem = { code: 'INVALID_INPUT', kind: 'user' as const, message, details: { field: 'profile' } }
      page.app.client.connections.save = vi.fn(() => Promise.reject(problemError(problem)))
      await press('save')
      expect(page.wrapper.find('.tables .n-form-item-feedback').text()).toBe(message)
      expect(page.wrapper.find('.failure .what').text()).toBe('The profile cannot be used as it is')
      await profile().setValue('{ "format": 1 }')
      expect(page.wrapper.find('.failure').exists()).toBe(false)
      page.app.client.connections.test = vi.fn(() => Promise.reject(problemError(problem)))
      await press('test')
      expect(page.wrapper.find('.tables .n-form-item-feedback').text()).toBe(message)
    })

    it('shows the profile that is stored', async () => {
      const scene = withForeignTable(makeScene('healthy', 0), 'clinic-main')
      page = await mountPage(ConnectionFormPage, scene, '/connections/clinic-main/edit', () => 0)
      expect(profile().element.value).toBe('{}')
      await press('save')
      expect(calls('connections.save')[0]).toMatchObject({ id: 'clinic-main', profile: '{}', accessMode: 'read-only' })
    })
  })

  it('tells what to do about a refused value in words to read', async () => {
    await open()
    await fill()
    const message = 'Save a production connection as read-only; then switch it.'
    const invalid = { code: 'INVALID_INPUT', kind: 'user' as const, message, details: {} }
    page.app.client.connections.save = vi.fn(() => Promise.reject(problemError(invalid)))
    await press('save')
    expect(page.wrapper.find('.failure .instruction').text()).toBe(message)
    const onField = { ...invalid, details: { field: 'accessMode' } }
    page.app.client.connections.save = vi.fn(() => Promise.reject(problemError(onField)))
    await press('save')
    expect(page.wrapper.find('.failure .what').text()).toBe('A production connection is saved read-only')
    expect(page.wrapper.find('.failure').text()).toContain('on the Connections page')
  })

  it('shows each step of a test, and what a failure means and what to try', async () => {
    await open()
    await fill()
    page.app.client.connections.test = (() =>
      Promise.resolve(
        steps(
          { step: 'tcp', status: 'running', notes: [], problem: null },
          { step: 'tcp', status: 'failed', notes: [], problem: refused }
        )
      )) as never
    await press('test')
    const failed = page.wrapper.find('li.failed')
    expect(failed.text()).toContain('Reach the server')
    expect(failed.text()).toContain('Nothing answers at this address')
    expect(failed.text()).toContain('Check host and port')
    expect(page.wrapper.find('[data-test=save]').text()).toBe('Save anyway')
  })

  it('leads to the test first, and to saving once it has passed', async () => {
    await open()
    await fill()
    const isPrimary = (what: 'test' | 'save'): boolean =>
      page.wrapper.find(`[data-test=${what}]`).classes('n-button--primary-type')
    expect([isPrimary('test'), isPrimary('save')]).toEqual([true, false])
    page.app.client.connections.test = (() =>
      Promise.resolve(steps({ step: 'tcp', status: 'ok', notes: [], problem: null }))) as never
    await press('test')
    expect([isPrimary('test'), isPrimary('save')]).toEqual([false, true])
  })

  it('forgets the result of a test when a field changes', async () => {
    await open()
    await fill()
    page.app.client.connections.test = (() =>
      Promise.resolve(
        steps({ step: 'tcp', status: 'ok', notes: [{ code: 'elapsed', values: { ms: 3 } }], problem: null })
      )) as never
    await press('test')
    expect(page.wrapper.find('[data-test=save]').text()).toBe('Save and open')
    await page.wrapper.find('input[name=host]').setValue('other')
    expect(page.wrapper.find('li.ok').exists()).toBe(false)
    expect(page.wrapper.find('[data-test=save]').text()).toBe('Save without testing')
  })

  it('saves and opens the connection, and keeps the password nowhere', async () => {
    await open()
    await fill()
    await press('save')
    expect(calls('connections.save')[0]).toMatchObject({ name: 'lab', password: 's3cret', keepPassword: 'vault' })
    expect(page.router.currentRoute.value.fullPath).toBe('/c/lab/overview')
    expect(page.wrapper.find<HTMLInputElement>('input[name=password]').element.value).toBe('')
  })

  it('says plainly that a machine without a store keeps the password until it quits', async () => {
    await open('/connections/new', 'no-vault')
    expect(page.wrapper.find('[data-test=no-vault]').text()).toContain('kept in memory until you quit')
    await fill()
    await press('save')
    expect(calls('connections.save')[0]).toMatchObject({ keepPassword: 'session' })
  })

  it('edits without asking for the stored password again', async () => {
    await open('/connections/clinic-main/edit')
    expect(page.wrapper.find<HTMLInputElement>('input[name=host]').element.value).toBe('db-primary')
    await press('save')
    expect(calls('connections.save')[0]).toMatchObject({ id: 'clinic-main', password: null })
  })

  it('stays and explains when saving fails', async () => {
    await open()
    await fill()
    const vault = { code: 'VAULT_UNAVAILABLE', kind: 'user' as const, message: 'no keyring', details: {} }
    page.app.client.connections.save = vi.fn(() => Promise.reject(problemError(vault)))
    await press('save')
    expect(page.wrapper.text()).toContain('This machine has no store for secrets')
    expect(page.router.currentRoute.value.fullPath).toBe('/connections/new')
  })
})
