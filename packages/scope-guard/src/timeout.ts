import { Fault, orFault } from '@gatewright/kernel'

/**
 * Runs a store call for at most `ms`. A call that throws or takes longer is a fault. Whether a late call took effect is
 * unknown, as after a lost connection.
 */
export async function withinTime<T>(store: string, ms: number, call: () => Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Fault('ERR_STORE_UNAVAILABLE', `${store} did not reply within ${ms} ms`))
    }, ms)
  })
  try {
    return await Promise.race([orFault(store, call), late])
  } finally {
    clearTimeout(timer)
  }
}
