import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { type Operation, operation } from '@gatewright/host'
import { component, text } from '@gatewright/host/schemas'

// Any text: a person who opens the address must see a page, not an error.
const Query = Type.Object({
  request: Type.Optional(text('The id of a request, or its token where the client built the address')),
})
const Nothing = Type.Object({}, component('Redirect', 'No body'))
const common = {
  surface: 'public',
  method: 'GET',
  credential: 'none',
  limit: 'document',
  document: true,
  redirects: true,
  response: Nothing,
  example: { response: {} },
} as const

const to = (fragment: string) =>
  allow({ document: undefined, status: 302, headers: [['Location', `/helper${fragment}`] as const] })

/** Addresses that existing clients open in a browser. A `code` in them is removed, because the person must type it. */
export function signInRedirects(): Operation[] {
  return [
    operation({
      ...common,
      id: 'auth.openCli',
      title: 'Open the approval page',
      details: 'Leads to the page that approves the sign-in of a command line.',
      paths: ['/auth/cli'],
      query: Query,
      async handle({ query: { request = '' } }) {
        return to(/^[!-~]{1,120}$/.test(request) ? `#request=${encodeURIComponent(request)}` : '')
      },
    }),
    operation({
      ...common,
      id: 'auth.openKyc',
      title: 'Open the page with the identity check',
      paths: ['/identity/kyc'],
      handle: async () => to('#kyc'),
    }),
  ]
}
