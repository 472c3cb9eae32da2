/**
 * Passes a value on to `step`: immediately, or when its promise resolves. A promise costs a new token 2 to 3 % of its request, so
 * the steps of an authentication return none where they have their result (decision 0059, `npm run bench -- scope-guard`).
 */
export function andThen<T, R>(value: T | Promise<T>, step: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(step) : step(value)
}
