import { AppError } from '../kernel/index.ts'

/** For a cursor that no page of the list gave. */
export const unknownCursor = (): AppError =>
  new AppError('INVALID_INPUT', 'user', 'This page of the list is not known any more: start from the first page.')
