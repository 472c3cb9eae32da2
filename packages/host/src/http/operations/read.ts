import { allow, type Session } from '@gatewright/kernel'
import type { Surface } from '@gatewright/kernel/internal'
import type { Static, TObject } from 'typebox/type'
import { deny, type HostDenial } from '../codes.ts'
import { operation, type Operation, type PlainOperation, type Success } from './operation.ts'

/** What differs between the reads of an account. */
export interface ReadRule<D extends TObject>
  extends Pick<
    PlainOperation<'session', TObject, D>,
    'id' | 'title' | 'details' | 'paths' | 'response' | 'topLevel' | 'denies' | 'resource'
  > {
  /** Default: `user`. */
  readonly surface?: Surface
  readonly scopes: readonly string[]
  /** The `data` of a response, in the API description. */
  readonly example: Static<D>
  /** Default: `nothing has this id`. */
  readonly notFound?: HostDenial
  /**
   * Reads what the account of the session has. Undefined: it has no such record, which is denied by `notFound`. `id` is the path
   * parameter; empty if the path has none.
   */
  read(session: Session, id: string): Promise<Success | undefined>
}

const nothing: HostDenial = deny('not_found', 'nothing has this id')

/** Declares a read of one record of the caller's account, or of the account itself. */
export function readOperation<D extends TObject>({
  notFound = nothing,
  example,
  read,
  ...rule
}: ReadRule<D>): Operation {
  return operation({
    surface: 'user',
    method: 'GET',
    credential: 'session',
    denies: rule.paths[0].includes('{') ? [404] : [],
    ...rule,
    example: { response: example },
    async handle({ caller, params }) {
      const [id = ''] = Object.values(params)
      const found = await read(caller.session, id)
      return found ? allow(found) : notFound
    },
  })
}
