import type { Artifact, LogLine, TaskDetail } from '../../kernel/index.ts'
import { readDependencies } from './dependencies.ts'
import { effectivePolicies } from './policies.ts'
import { rowId, type QueueFile } from './queue-file.ts'
import {
  artifactColumns,
  attemptColumns,
  detailColumns,
  toArtifact,
  toDetail,
  toLogLine,
  type ArtifactRow,
  type AttemptRow,
  type DetailRow,
  type LogRow
} from './task-rows.ts'

const logPage = 500

const findTask = `SELECT ${detailColumns} FROM taskdeck_task WHERE id = :id`
/** The newest, when someone handed a task back more than a thousand times. */
const findAttempts = `SELECT ${attemptColumns} FROM taskdeck_attempt WHERE task_id = :id ORDER BY attempt DESC LIMIT 1000`
const findArtifacts = `SELECT ${artifactColumns} FROM taskdeck_artifact WHERE task_id = :id ORDER BY taskdeck_artifact.id LIMIT 1000`
const findArtifact = `SELECT ${artifactColumns} FROM taskdeck_artifact WHERE id = :artifactId AND task_id = :id`
const logColumns = 'CAST(id AS TEXT) AS id, attempt, at, level, message'
const newestLines = `SELECT ${logColumns} FROM taskdeck_log WHERE task_id = :id ORDER BY taskdeck_log.id DESC LIMIT ${logPage}`
const linesAfter = `
SELECT ${logColumns} FROM taskdeck_log WHERE task_id = :id AND taskdeck_log.id > :after
ORDER BY taskdeck_log.id LIMIT ${logPage}`

export async function getTask(file: QueueFile, taskId: string): Promise<TaskDetail | undefined> {
  const id = rowId(taskId)
  if (id === undefined) return undefined
  return file.read((session) => {
    const row = session.get<DetailRow>(findTask, { id })
    if (!row) return undefined
    const attempts = session.all<AttemptRow>(findAttempts, { id }).reverse()
    const artifacts = session.all<ArtifactRow>(findArtifacts, { id })
    const waitsFor = readDependencies(session, id)
    return toDetail(row, { attempts, artifacts, waitsFor, policies: effectivePolicies(session) })
  })
}

export async function readLog(file: QueueFile, taskId: string, afterId: string | null): Promise<LogLine[]> {
  const id = rowId(taskId)
  if (id === undefined) return []
  const after = afterId === null ? null : rowId(afterId)
  if (after === undefined) return []
  return file.read((session) => {
    const rows =
      after === null
        ? session.all<LogRow>(newestLines, { id }).reverse()
        : session.all<LogRow>(linesAfter, { id, after })
    return rows.map(toLogLine)
  })
}

export async function getArtifact(file: QueueFile, taskId: string, artifactId: string): Promise<Artifact | undefined> {
  const [id, wanted] = [rowId(taskId), rowId(artifactId)]
  if (id === undefined || wanted === undefined) return undefined
  return file.read((session) => {
    const row = session.get<ArtifactRow>(findArtifact, { id, artifactId: wanted })
    return row && toArtifact(row)
  })
}
