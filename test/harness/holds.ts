import fc from 'fast-check'
import type { Test } from 'tap'

/**
 * Checks a property of fast-check and counts it as one assertion of tap. Use node:assert inside a property:
 * tap's own assertions do not throw, so fast-check would neither see them fail nor shrink.
 */
export async function holds<T>(
  t: Test,
  property: fc.IRawProperty<T>,
  parameters: fc.Parameters<T> = {},
): Promise<void> {
  await fc.assert(property, parameters)
  t.pass('the property holds')
}
