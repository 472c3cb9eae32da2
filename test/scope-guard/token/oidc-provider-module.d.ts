/** The members of oidc-provider that are used. The package has no types of its own. */
declare module 'oidc-provider' {
  export default class Provider {
    constructor(issuer: string, configuration: object)
    callback(): (request: unknown, response: unknown) => void
  }
}
