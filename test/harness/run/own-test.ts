import root, { type Test } from 'tap'

const members = Object.getPrototypeOf(root) as Test
let own: Test | undefined

/**
 * For `several.ts`, before a file is loaded and after it has ended. What the file calls of tap's root test, such as `t.test`, is called
 * of `test` in between: the file has a test of its own, in a process with others.
 */
export function setOwnTest(test: Test | undefined): void {
  own = test
}

// Module hooks, which could give each file another `tap`, run in a thread of their own: loading a host takes twice as long with them.
Object.setPrototypeOf(
  root,
  new Proxy(members, {
    get(_, name) {
      const value: unknown = Reflect.get(own ?? members, name)
      return typeof value === 'function' ? value.bind(own ?? root) : value
    },
    set: (_, name, value) => Reflect.set(own ?? members, name, value),
  }),
)
