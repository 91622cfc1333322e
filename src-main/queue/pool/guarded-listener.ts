/** Calls a listener of the program that embeds the worker: what it throws, at once or later, goes to `onError` and nowhere else. */
export function guardedListener<Event>(
  listener: (event: Event) => unknown,
  onError: (error: unknown) => void = () => undefined
): (event: Event) => void {
  return (event) => void new Promise((resolve) => resolve(listener(event))).catch(onError)
}
