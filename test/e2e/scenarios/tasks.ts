import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parse } from 'csv-parse/sync'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { makeImport } from '../../../resources/demo/make-import.mjs'
import { ordersWorkbook } from '../../../src-main/queue/pool/built-in/xlsx/orders.fixture.ts'
import { eventually } from '../support/eventually.ts'
import {
  askWorker,
  chooseType,
  drawer,
  enqueue,
  enqueueForm,
  makeTask,
  openPage,
  openTask,
  press,
  pressAndConfirm,
  pressEnqueue,
  saysEnqueued,
  seesState,
  taskRow,
  titleField,
  workerSays
} from '../support/operator.ts'
import type { Session } from '../support/session.ts'
import type { OpenShell } from '../support/shells.ts'

const hourSeconds = 3_600

/** With a worker that runs on the local queue; it is stopped at the end. */
export function tasksScenario(session: () => Session): void {
  describe('tasks', () => {
    let shell: OpenShell
    beforeAll(async () => {
      shell = session().shell
      await openPage(shell.page, 'Local worker')
    })

    const actions = (): Promise<string[]> => drawer(shell.page).locator('.actions button').allInnerTexts()
    const isOff = (name: string): Promise<boolean> =>
      drawer(shell.page).getByRole('button', { name, exact: true }).isDisabled()
    const attempts = (): Promise<string[]> =>
      drawer(shell.page).locator('.attempts .attempt:not(.label) .why').allInnerTexts()

    it('import the sample file: 9,800 rows in, 200 in a report to download', async () => {
      const { page } = shell
      await chooseType(page, 'import-csv')
      const form = enqueueForm(page)
      await form.getByText('200 of them bad on purpose').waitFor()
      await titleField(page).fill('Orders of April')
      await form.getByRole('button', { name: 'Enqueue 1 task' }).click()
      await saysEnqueued(page)

      const open = await openTask(page, 'Orders of April')
      await seesState(page, 'Partial success')
      await open.getByText(/of 10,000 · 100\s%/).waitFor()
      await open.getByText('9,800 succeeded').waitFor()
      await open.getByText('200 failed').waitFor()
      await open.getByText('Artifacts 1').click()
      const report = await shell.save(() => open.getByRole('button', { name: 'Download' }).click())
      expect(report.name).toBe('import-errors.csv')
      const [header, ...rows] = parse(report.text)
      expect(header).toEqual(['row', 'reason', 'data'])
      expect(rows).toHaveLength(200)
      expect(await isOff('Retry')).toBe(true)
      await open.getByText('Partial success: nothing can be done to it now.').waitFor()
    })

    it('import a workbook as they import a CSV file', async () => {
      const { page } = shell
      const folder = mkdtempSync(join(tmpdir(), 'taskdeck-workbook-'))
      onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
      const file = join(folder, 'orders.xlsx')
      writeFileSync(file, ordersWorkbook(makeImport(1_000, 20)))
      await enqueue(page, { type: 'import-xlsx', title: 'Orders of May', payload: JSON.stringify({ file }) })
      const open = await openTask(page, 'Orders of May')
      await seesState(page, 'Partial success')
      await open.getByText('980 succeeded').waitFor()
      await open.getByText('20 failed').waitFor()
    })

    it('that fail at first are tried again, and the timeline says why', async () => {
      const { page } = shell
      await enqueue(page, { type: 'flaky', title: 'Fails once', payload: '{"failFirst":1,"probability":0}' })
      const open = await openTask(page, 'Fails once')
      await seesState(page, 'Success')
      await eventually(attempts).toEqual(['FLAKY', 'succeeded'])
      await open.getByText('2 of 5 used').waitFor()
    })

    it('that failed for good go again when Retry is pressed', async () => {
      const { page } = shell
      const payload = '{"failFirst":1,"probability":0,"errorClass":"final"}'
      await enqueue(page, { type: 'flaky', title: 'Fails for good once', payload })
      const open = await openTask(page, 'Fails for good once')
      await seesState(page, 'Failed')
      await open.getByText('Attempt 1 fails on purpose.').first().waitFor()
      expect(await isOff('Cancel')).toBe(true)
      expect(await isOff('Pause')).toBe(true)
      await open.getByText('Not possible in state Failed: Cancel, Pause.').waitFor()

      await press(page, 'Retry')
      await page.getByText(/Failed → Queued \(audit entry/).waitFor()
      await seesState(page, 'Success')
      await eventually(attempts).toEqual(['FLAKY', 'succeeded'])
      await open.getByText('2 in all, 1 of 5 counted').waitFor()
    })

    it('that wait can be paused, resumed and cancelled', async () => {
      const { page } = shell
      await enqueue(page, { type: 'sleep', title: 'Waits an hour', payload: '{"ms":10}', delaySeconds: hourSeconds })
      const open = await openTask(page, 'Waits an hour')
      await seesState(page, 'Queued')
      expect(await actions()).toEqual(['Cancel', 'Pause', 'Retry'])
      expect(await isOff('Retry')).toBe(true)
      await open.getByText('Not possible in state Queued: Retry.').waitFor()

      await press(page, 'Pause')
      await seesState(page, 'Paused')
      await press(page, 'Resume')
      await seesState(page, 'Queued')
      await pressAndConfirm(page, 'Cancel')
      await seesState(page, 'Cancelled')
      await eventually(() => isOff('Cancel')).toBe(true)
    })

    it('that run are asked to stop, and say that they were cancelled', async () => {
      const { page } = shell
      await enqueue(page, { type: 'sleep', title: 'Sleeps ten minutes', payload: '{"ms":600000}' })
      const open = await openTask(page, 'Sleeps ten minutes')
      await seesState(page, 'Running')
      await open.getByText('Not possible in state Running: Pause, Retry.').waitFor()
      await press(page, 'Request cancel')
      await page.getByText('External calls that it has already made may still complete').waitFor()
      await page.getByRole('alertdialog').getByRole('button', { name: 'Go back' }).click()
      await seesState(page, 'Running')
      await pressAndConfirm(page, 'Request cancel')
      await seesState(page, 'Cancelled')
      await eventually(attempts).toEqual(['cancelled'])
    })

    it('are made from the list with n, are in it at once, and say when they run', async () => {
      const { page } = shell
      await openPage(page, 'Tasks')
      await makeTask(page, 'Made beside the list')
      await taskRow(page, 'Made beside the list').waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('complementary', { name: 'A new task' }).waitFor({ state: 'detached' })
      const open = await openTask(page, 'Made beside the list')
      await open.getByText(/^runs in \d+\s?m \d+\s?s$/).waitFor()
    })

    it('with a payload that is not JSON are refused where it is written', async () => {
      const { page } = shell
      await openPage(page, 'Local worker')
      await chooseType(page, 'sleep')
      const form = enqueueForm(page)
      await form.getByText('JSON', { exact: true }).click()
      await form.getByLabel('Payload, JSON').fill('{"ms": 10')
      await titleField(page).fill('Never made')
      await form.getByRole('button', { name: 'Enqueue 1 task' }).click()
      await form.getByText('This is not valid JSON.').waitFor()
      await openPage(page, 'Tasks')
      await taskRow(page, 'Orders of April').waitFor()
      expect(await taskRow(page, 'Never made').count()).toBe(0)
    })

    it('with a payload that the running handler does not take are refused to who typed it, who is told what is wrong', async () => {
      const { page } = shell
      await pressEnqueue(page, { type: 'sleep', title: 'Sleeps soon', payload: '{"ms":"soon"}' })
      const refusal = page.getByRole('alert').filter({ hasText: "does not fit the handler's schema" })
      await refusal.getByText(/expected number, received string/).waitFor()
    })

    it('are not taken by a worker that was asked to be quiet, are taken once it is woken, and not after it was stopped', async () => {
      const { page } = shell
      await openPage(page, 'Workers')
      await askWorker(page, 'Quiet')
      await workerSays(page, /Quiet/)
      await enqueue(page, { type: 'sleep', title: 'Waits for the waking', payload: '{"ms":10}' })
      await openTask(page, 'Waits for the waking')
      await seesState(page, 'Queued')
      await openPage(page, 'Workers')
      await askWorker(page, 'Wake')
      await workerSays(page, /Healthy/)
      await openTask(page, 'Waits for the waking')
      await seesState(page, 'Success')
      await openPage(page, 'Workers')
      await askWorker(page, 'Stop')
      await page.getByText('It does not come back by itself').waitFor()
      await page.getByRole('alertdialog').getByRole('button', { name: 'Stop', exact: true }).click()
      await workerSays(page, /Stopped/)
      await openPage(page, 'Local worker')
      await page.getByRole('button', { name: 'Start the worker' }).waitFor()
    })

    it('leave no error in the console and nothing for the page’s policy to block', () => {
      expect(shell.problems).toEqual([])
    })
  })
}
