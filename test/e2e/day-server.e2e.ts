import { describeDay } from './scenarios/day.ts'

describeDay('server')
