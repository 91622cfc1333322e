import type { AlertSignal } from '../../kernel/index.ts'
import type { Language } from './outgoing-message.ts'

/** Why a message was not delivered, or that it was, where no receiver says so itself. */
export const ownAnswers = [
  'timeout',
  'refused',
  'unknownHost',
  'certificate',
  'notLoopback',
  'broken',
  'stopped',
  'crowded',
  'noDesktop',
  'noAddress',
  'bug',
  'shown'
] as const
export type OwnAnswer = (typeof ownAnswers)[number]

/** What messages are made of. `{name}` is filled in. */
export interface Phrases {
  readonly answers: Readonly<Record<OwnAnswer, string>>
  readonly signals: Readonly<Record<AlertSignal, string>>
  readonly environments: Readonly<Record<string, string>>
  readonly units: { readonly ms: string; readonly s: string; readonly min: string; readonly h: string }
  readonly perMinute: string
  readonly ofType: string
  readonly title: string
  readonly fired: string
  readonly repeated: string
  readonly resolved: string
  readonly test: string
  readonly testBody: string
  readonly more: string
  readonly above: string
  readonly worst: string
  readonly since: string
  readonly lasted: string
  readonly connection: string
}

const en: Phrases = {
  answers: {
    timeout: 'No answer in time.',
    refused: 'The connection was refused.',
    unknownHost: 'The host name is not known.',
    certificate: 'The TLS certificate was not accepted.',
    notLoopback: 'The name does not lead to this machine, and the address is not https.',
    broken: 'The connection broke before there was an answer.',
    stopped: 'Taskdeck ended before it was delivered.',
    crowded: 'Too many messages wait for this notifier already.',
    noDesktop: 'Taskdeck runs without a desktop here: use a webhook.',
    noAddress: 'The address is not known any more: enter it again.',
    bug: 'Taskdeck could not send it: the log file says why.',
    shown: 'Handed to the desktop.'
  },
  signals: {
    oldestMs: 'Oldest waiting task',
    failureRate: 'Failure rate of the last 5 minutes',
    recoveredRise: 'More expired leases recovered than before',
    workersSilent: 'Workers without a heartbeat',
    poolUse: 'Worker pool in use',
    databaseUse: 'Database sessions in use',
    claimP95: 'Claim P95',
    progressStopped: 'Running tasks while nothing ends',
    growth: 'The queue grows',
    schedulesLate: 'Late schedules',
    blindMs: 'No reading from the database'
  },
  environments: { local: 'local', development: 'development', staging: 'staging', production: 'production' },
  units: { ms: '{n} ms', s: '{n} s', min: '{n} min', h: '{n} h' },
  perMinute: '{n} tasks/min',
  ofType: ' (type {type})',
  title: '[Taskdeck] {what}: {subject}{more} · {name}',
  fired: 'Alert',
  repeated: 'Still firing',
  resolved: 'Resolved',
  test: 'Test message',
  testBody: 'This notifier works. Nothing is wrong.',
  more: ' and {n} more',
  above: '{signal}: {value}, above {above}',
  worst: 'worst type {type}: {value}',
  since: 'since {time}',
  lasted: '{signal}: over after {duration}, worst {peak}',
  connection: 'Connection: {name} ({environment})'
}

const zh: Phrases = {
  answers: {
    timeout: '没有及时得到应答。',
    refused: '连接被拒绝。',
    unknownHost: '找不到该主机名。',
    certificate: 'TLS 证书未被接受。',
    notLoopback: '该名称不指向本机，而地址不是 https。',
    broken: '连接在得到应答之前中断。',
    stopped: 'Taskdeck 在送达之前已退出。',
    crowded: '等待此通知方式的消息已经太多。',
    noDesktop: 'Taskdeck 在此没有桌面可用：请使用 Webhook。',
    noAddress: '地址已不可用：请重新输入。',
    bug: 'Taskdeck 无法发送：原因见日志文件。',
    shown: '已交给桌面。'
  },
  signals: {
    oldestMs: '最久等待的任务',
    failureRate: '最近 5 分钟失败率',
    recoveredRise: '过期租约回收增多',
    workersSilent: '没有心跳的工作进程',
    poolUse: '工作池占用',
    databaseUse: '数据库会话占用',
    claimP95: '领取 P95',
    progressStopped: '有任务运行但没有任务结束',
    growth: '队列在增长',
    schedulesLate: '延迟的定时计划',
    blindMs: '读不到数据库'
  },
  environments: { local: '本地', development: '开发', staging: '预发布', production: '生产' },
  units: { ms: '{n} 毫秒', s: '{n} 秒', min: '{n} 分钟', h: '{n} 小时' },
  perMinute: '{n} 个任务/分钟',
  ofType: '（类型 {type}）',
  title: '[Taskdeck] {what}：{subject}{more} · {name}',
  fired: '告警',
  repeated: '仍在告警',
  resolved: '已恢复',
  test: '测试消息',
  testBody: '此通知方式可用，没有发生任何问题。',
  more: '，另有 {n} 项',
  above: '{signal}：{value}，超过 {above}',
  worst: '最严重的类型 {type}：{value}',
  since: '开始于 {time}',
  lasted: '{signal}：持续 {duration} 后恢复，最差 {peak}',
  connection: '连接：{name}（{environment}）'
}

export const phrasesOf = (language: Language): Phrases => (language === 'zh-CN' ? zh : en)

/** Values are put in as they are: what they hold is never read as a name again. */
export const fill = (phrase: string, values: Readonly<Record<string, string | number>>): string =>
  phrase.replace(/\{(\w+)\}/g, (name, key: string) => String(values[key] ?? name))
