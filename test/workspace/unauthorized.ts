import { pathToFileURL } from 'node:url'

type Sentences = Readonly<Record<string, string>>

/** What to do about each reason of scope-guard's 401. A reason without an entry fails, and so does an entry of no reason. */
const WAYS_ON: Sentences = {
  'no credential':
    'Send `Authorization: Bearer TOKEN`. Check that a proxy does not remove the header, and that the scheme is not missing.',
  'malformed credential':
    'Send one field `Authorization: Bearer TOKEN`. A client that sends the scheme alone has an empty variable; two fields come from a proxy that adds its own.',
  'token too long': 'Request fewer scopes or claims, or raise `maxTokenBytes` (at most 16384).',
  'not a canonical compact JWS':
    'Send the access token as issued: three base64url parts with dots. An opaque token, an encrypted token (five parts), quotes, padding and line breaks are rejected. With Auth0, request the `audience` of your API: without it, the token is not a JWS.',
  'unreadable header': 'Send the token as issued; the text was cut or changed.',
  'no kid':
    'Let the issuer publish its keys with a `kid` and name it in the header. A token without one needs a key set with exactly one key for its algorithm; keys of a function of your own need its member `all`.',
  'crit header': 'Let the issuer omit `crit`: no extension is supported.',
  'jwk header':
    'Let the issuer omit it. A DPoP proof has a `jwk`: it belongs in the `DPoP` header, not in `Authorization`.',
  'jku header': 'Let the issuer omit it. The key set is found by the options of the guard only.',
  'x5u header': 'Let the issuer omit it.',
  'x5c header': 'Let the issuer omit it.',
  'wrong typ':
    'Send an access token, not an ID token. For Auth0, Keycloak, Entra, Cognito, Clerk or Supabase name it: `provider` of `gatewright`, or `readSession: sessionReader({ preset })` of the guard; for another issuer with `typ: JWT` set `typ` too.',
  'claims are not a JSON object': 'Send the token as issued; the text was cut or changed.',
  'wrong issuer':
    'Set `issuer` to exactly what the token says in `iss`, with or without the slash at the end. Entra has one issuer per tenant and version.',
  'wrong audience':
    'Request the token for this API (`audience` or `resource` of the token request), or set `audience` to what the token says in `aud`. Keycloak needs an audience mapper.',
  'no exp': 'Let the issuer write `exp` as a number of seconds.',
  'no iat': 'Let the issuer write `iat` as a number of seconds.',
  'issued in the future': 'Correct the clocks of both machines; `clockToleranceSeconds` allows at most 60.',
  'nbf must be a number': 'Let the issuer write `nbf` as a number of seconds, or omit it.',
  'not valid yet': 'Correct the clocks of both machines; `clockToleranceSeconds` allows at most 60.',
  'unknown key':
    'Check that `issuer` or `keys` is of the same tenant and environment. A new key is found after the cool-down of 30 s. Symmetric keys (HS256) are never accepted: switch the issuer to RS256, ES256 or EdDSA.',
  'the algorithm does not match the key':
    'Let the issuer publish `alg` with its key. For RSA keys without `alg` set `rsaAlgorithm`.',
  'invalid signature': 'Check that the token is complete, and that the issuer publishes the key that signs.',
  'claims do not describe a session':
    'Without `readSession`, a token needs `sub`, `client_id`, `jti`, whole seconds in `iat` and `exp`, and `scope` as a text: name your provider (`provider` of `gatewright`) or a preset. A preset rejects ID tokens. A token with a `gw_` claim needs all of them, and no `readSession`.',
  'the token names no policies':
    "Say which policies apply: `readSession: sessionReader({ preset: 'rfc9068', policyIds: () => ['everybody'] })`, or give `sessionPolicies`. Without either, no cap would ever apply to this token.",
  'an id with a NUL or a lone surrogate': 'Let the issuer write ids that are valid text.',
  'the token is bound in a way that is not supported':
    'Let the issuer bind tokens by DPoP (`cnf.jkt`), or not at all. Members beside `jkt` are ignored.',
  'the token is not bound, and its scheme is DPoP':
    'Send it as `Bearer`, or send a proof when the token is requested, so that the issuer binds it.',
  'the token is bound, and the guard has no dpop option':
    'Set `dpop: { nonces, origin }` in `createGuard`, with a nonce storage that all processes share and the public URL of the API.',
  'the token is not bound, and the guard requires it':
    'Request a token with a DPoP proof at the token endpoint, or leave out `dpop.required`.',
  'the token is bound, and the request has no DPoP proof':
    'Send a proof in the header `DPoP`. Check that a proxy does not remove it.',
  'the token is bound, and its scheme is not DPoP':
    'Send `Authorization: DPoP TOKEN` (RFC 9449 section 7.1).',
  'the guard was not given the method and a valid URL':
    'Pass `method` and `url` to `guard.check`, as the gate of `http` does.',
  'more than one DPoP proof': 'Send one proof.',
  'the DPoP proof is not a canonical compact JWS':
    'Send the proof as a signed JWT of at most 8192 characters.',
  'wrong typ of the DPoP proof': 'Set `typ: dpop+jwt` in the header of the proof.',
  'crit header of the DPoP proof': 'Omit `crit`.',
  'the DPoP proof has no public key':
    'Put the public key in `jwk`. A private key that was sent must be replaced.',
  'the algorithm of the DPoP proof is not accepted':
    'Sign with ES256 or EdDSA; `algs` of the challenge lists all. Weak keys and those over 4,096 bits are rejected.',
  'the DPoP proof lacks jti, htm, htu, iat or ath':
    'Write all of them. `ath` is the SHA-256 of the access token in base64url.',
  'the DPoP proof is for another method': 'Make a proof for each request.',
  'the DPoP proof is for another URL':
    'The `htu` of the proof must be an origin of `dpop.origin` with the path of the request. Set `dpop.origin` to every scheme and authority by which clients reach this API. If a proxy removes a prefix from the path, add it: `https://example.com/api`.',
  'the DPoP proof was issued in the future': 'Correct the clocks of both machines.',
  'the DPoP proof is too old':
    'It is more than 60 s old. Make a proof for each request; correct the clocks of both machines.',
  'the DPoP proof is for another token': 'Make the proof with the token that is sent.',
  'the DPoP proof is by another key': 'Sign with the key that the token was requested with.',
  'the DPoP proof has no nonce of this API':
    'Repeat the request once with a proof that has the nonce of the response field `DPoP-Nonce`. Libraries for DPoP do.',
  'the nonce of the DPoP proof is unknown or too old':
    'It was issued with another secret, or 5 minutes ago or longer. Use the latest `DPoP-Nonce`. Give all hosts of the API one `dpop.nonceSecret`, and correct their clocks.',
  'invalid signature of the DPoP proof': 'Sign with the private key of the `jwk` in the header.',
  'the DPoP proof was used before': 'Make a proof with a fresh `jti` for each request, also for a repeat.',
  revoked: 'Sign in again: the session or its key was revoked.',
}

/** The reasons of scope-guard, in the order of the checks. */
async function guardReasons(): Promise<readonly string[]> {
  const built = (await import(pathToFileURL('packages/scope-guard/dist/codes.js').href)) as {
    readonly reasons: readonly string[]
  }
  return built.reasons
}

/** The sections of the page. Throws for a reason without a way on, and for an entry of no reason. */
export function reasonSections(reasons: readonly string[], ways: Sentences = WAYS_ON): string[] {
  const missing = reasons.filter(reason => !Object.hasOwn(ways, reason) || ways[reason] === '')
  if (missing.length > 0)
    throw new Error(`say what to do in test/workspace/unauthorized.ts: ${missing.join(', ')}`)
  const unsaid = Object.keys(ways).filter(reason => !reasons.includes(reason))
  if (unsaid.length > 0) throw new Error(`scope-guard gives no such reason: ${unsaid.join(', ')}`)
  return reasons.map(reason => `### \`${reason}\`\n\n${ways[reason]}`)
}

/** Writes `docs/401.md`. */
export async function unauthorizedPage(): Promise<string> {
  return PAGE.replace('{sections}', reasonSections(await guardReasons()).join('\n\n'))
}

const PAGE = `# 401? Read this

<!-- Written by \`npm run docs:update\` from the reasons of scope-guard and test/workspace/unauthorized.ts. -->

The response does not say why a token is denied, because that would help an attacker. Three ways to see the reason:

1. The gate writes each reason once to stderr, such as \`audience: expected https://payments.example, token has https://other\`. The option \`hint\` of
   \`gate\` takes a function instead, or false for none.
2. \`observe\` gets it in every decision event (without a gate: \`reason\` of the result of \`guard.check\`):

   \`\`\`ts
   gate({ guard, scopes, observe: ({ status, code, reason }) => console.log(status, code, reason) })
   \`\`\`

3. \`npx gatewright explain-token\` prints header and claims of a token and the check that fails:

   \`\`\`sh
   npx gatewright explain-token \\
     --issuer https://login.example.com --audience https://api.example < token.txt
   \`\`\`

   It reads the token from the standard input or \`--file\`, since other users of the machine could read an argument. It fetches only the metadata and
   the key set of \`--issuer\`, or that of \`--keys\`, and prints no signature. \`--preset auth0\` and \`--typ JWT\` are the options of the guard.

Related responses:

- A reason about a nonce belongs to a 401 \`use_dpop_nonce\`, one about a DPoP proof to \`invalid_dpop_proof\`, every other one to \`unauthorized\`.
- \`Authorization\` without exactly one token gets 400 \`invalid_request\` ([below](#what-others-do)), with the reason \`malformed credential\`.
- An expired token gets 401 \`session_expired\`. If the token is new, check the clock of the machine.
- A token without a needed scope gets 403 \`insufficient_scope\`. If it names scopes of the client and permissions of the user,
  [both must allow the operation](../packages/scope-guard/README.md#what-client-and-user-may-do).
- A 503 says that the verification keys are unavailable. The fault in the decision event names the URL and the cause.

## Reasons

The guard checks in this order and gives the first reason that applies.

{sections}

## What others do

By RFC 6750 section 3.1 a request without a credential, or with one of another scheme, is a 401 without an error code, a malformed one (not one field
with the scheme, spaces and one token) a 400 \`invalid_request\`, and a token that is not valid a 401 \`invalid_token\`. A token without \`kid\` is denied
where the set has two keys of its algorithm: trying each would use a replaced key for as long as it is published.

| | \`Bearer\` | \`Bearer a b\` | no \`kid\` |
|---|---|---|---|
| Gatewright | 400 \`invalid_request\` | 400 \`invalid_request\` | the only key of the algorithm |
| [express-oauth2-jwt-bearer] | 401 | 401 \`invalid_token\`, by its rules for tokens | as jose |
| [fastify-jwt] | 401 | 400 \`FST_JWT_BAD_REQUEST\` | the application chooses the key |
| [express-jwt] | 401 \`credentials_bad_format\` | 401 \`credentials_bad_format\` | the application chooses the key |
| [passport-jwt] | 401 | verifies \`a\` | the application chooses the key |
| [Hono \`jwt\`] | 401 \`invalid_request\` | 401 \`invalid_request\` | the application chooses the key |
| [Hono \`bearerAuth\`] | 400 \`invalid_request\` | 400 \`invalid_request\` | reads no JWT |
| [Spring Security] | 401 \`invalid_token\` | 401 \`invalid_token\` | not looked at |
| [jose] | reads no fields | reads no fields | the only key of the algorithm, else \`ERR_JWKS_MULTIPLE_MATCHING_KEYS\` |

[express-oauth2-jwt-bearer]: https://github.com/auth0/node-oauth2-jwt-bearer/blob/8701dab5c44839607755b94b247ce1912aff1aca/packages/oauth2-bearer/src/get-token.ts
[fastify-jwt]: https://github.com/fastify/fastify-jwt/blob/986b390/index.js
[express-jwt]: https://github.com/auth0/express-jwt/blob/de703b4/src/index.ts
[passport-jwt]: https://github.com/mikenicholson/passport-jwt/blob/fed94fa/lib/auth_header.js
[Hono \`jwt\`]: https://github.com/honojs/hono/blob/v4.13.19/src/middleware/jwt/jwt.ts
[Hono \`bearerAuth\`]: https://github.com/honojs/hono/blob/v4.13.19/src/middleware/bearer-auth/index.ts
[Spring Security]: https://github.com/spring-projects/spring-security/blob/09ce639c4b8ce54f073d52dec399cf2906d27045/oauth2/oauth2-resource-server/src/main/java/org/springframework/security/oauth2/server/resource/web/DefaultBearerTokenResolver.java
[jose]: https://github.com/panva/jose/blob/afbc664914bb975709a35bdfe5963a5583b63b2f/src/jwks/local.ts
`
