import type { SigningKeyStorage, SigningKeySet } from '@gatewright/session-issuer'

/** The reference model of the port: the shortest thing that passes its contract. */
export function memorySigningKeys(): SigningKeyStorage {
  let set: SigningKeySet = { revision: 0, keys: [] }
  return {
    load: async () => set,
    async replace(revision, keys) {
      if (revision !== set.revision) return false
      set = { revision: revision + 1, keys }
      return true
    },
  }
}
