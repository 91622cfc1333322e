import type { Artifact, LogLine, SqlDatabase, TaskDetail } from '../../kernel/index.ts'
import { readDependencies } from './dependencies.ts'
import { effectivePolicies } from './policies.ts'
import { rowId } from './row-values.ts'
import {
  artifactColumns,
  attemptColumns,
  detailColumns,
  logColumns,
  toArtifact,
  toAttempt,
  toDetail,
  toLogLine
} from './task-rows.ts'

const mostAttempts = 1_000
const mostArtifacts = 1_000
const mostLines = 500

const findTask = `SELECT ${detailColumns} FROM taskdeck_task WHERE id = ?`
const newestAttempts = `
SELECT ${attemptColumns} FROM taskdeck_attempt FORCE INDEX (PRIMARY)
WHERE task_id = ? ORDER BY attempt DESC LIMIT ${mostAttempts}`
const artifactsOf = `
SELECT ${artifactColumns} FROM taskdeck_artifact WHERE task_id = ? ORDER BY id LIMIT ${mostArtifacts}`
const findArtifact = `SELECT ${artifactColumns} FROM taskdeck_artifact WHERE id = ? AND task_id = ?`
const newestLines = `SELECT ${logColumns} FROM taskdeck_log WHERE task_id = ? ORDER BY id DESC LIMIT ${mostLines}`
const linesAfter = `SELECT ${logColumns} FROM taskdeck_log WHERE task_id = ? AND id > ? ORDER BY id LIMIT ${mostLines}`

/** The newest 1,000 attempts. The task is read first: an attempt that ends meanwhile shows as ended, never twice. */
export async function getTask(database: SqlDatabase, taskId: string): Promise<TaskDetail | undefined> {
  const id = rowId(taskId)
  if (id === undefined) return undefined
  const [task] = (await database.execute(findTask, [id])).rows
  if (!task) return undefined
  const attempts = await database.execute(newestAttempts, [id])
  const artifacts = await database.execute(artifactsOf, [id])
  const waitsFor = await readDependencies(database, id)
  return toDetail(task, {
    attempts: attempts.rows.map(toAttempt).reverse(),
    artifacts: artifacts.rows.map(toArtifact),
    waitsFor,
    policies: await effectivePolicies(database)
  })
}

export async function readLog(database: SqlDatabase, taskId: string, afterId: string | null): Promise<LogLine[]> {
  const id = rowId(taskId)
  if (id === undefined) return []
  if (afterId === null) return (await database.execute(newestLines, [id])).rows.map(toLogLine).reverse()
  const after = rowId(afterId)
  if (after === undefined) return []
  return (await database.execute(linesAfter, [id, after])).rows.map(toLogLine)
}

export async function getArtifact(
  database: SqlDatabase,
  taskId: string,
  artifactId: string
): Promise<Artifact | undefined> {
  const task = rowId(taskId)
  const id = rowId(artifactId)
  if (task === undefined || id === undefined) return undefined
  const [row] = (await database.execute(findArtifact, [id, task])).rows
  return row && toArtifact(row)
}
