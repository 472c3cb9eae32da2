/** The title of the test that shows each claim of docs/threat-model.md. Placeholders of templates stay as they are written. */
export const claimTests: Readonly<Record<string, string>> = {
  'A signed statement is accepted once, however many hosts receive it at once':
    'of 60 parallel verifications of one statement over 4 Redis connections, one succeeds',
  'A used statement stays used after a restart':
    'a statement stays used after a restart until its times no longer allow it',
  'Hosts whose clocks differ by 60 s accept a statement once between them':
    'two hosts whose clocks are 60 s apart accept one statement once',
  'No other encoding of a used signature succeeds again':
    'law: one statement succeeds once over all encodings and wallets, on ${store}',
  'A malleable signature (high `s`) is denied': 'denies the mirrored signature that viem accepts',
  'A contract wallet is proven only on a chain that its signed text names and the host allows':
    'denies contract wallets whose text names no allowed chain',
  'One address on two chains is two wallets, and the owner on one chain is not the owner on the other':
    'one address on two chains gives two wallet ids with separate owners, and one use of a nonce',
  "A wallet that does not exist yet (ERC-6492) is accepted only through a factory on the host's list":
    'verifies a wallet that does not exist yet (ERC-6492), by an allow-listed factory only',
  'A malformed or nested ERC-6492 wrapper is denied without a call to the chain':
    'rejects malformed ERC-6492 wrappers without a call to the chain',
  'A hostile wallet contract is denied, and cannot make its check fail or pass':
    'denies hostile wallets, and never throws for them or accepts them',
  'An RPC node that is down, slow, garbled or of another chain is a fault, and spends no nonce':
    'throws a fault when the endpoint is down, slow, malformed or of another chain, and uses up no nonce',
  'A wallet with a key is proven without any network': 'verifies keys with every socket blocked',
  'A proof for another service, such as the sandbox, is denied':
    'denies a statement for another service, so a sandbox proof fails in production',
  'A `v2` text that names another domain or another request is denied':
    'denies a v2 text that differs from the host or the request',
  'No part of a Sign-In with Ethereum text can be hidden in another part of it':
    "rejects messages that spoof viem's parser",
  'Nobody but the wallet can use up its nonce, and a bad proof spends none':
    'accepts a nonce once per address and does not let another wallet use it up',
  'A denied proof does not say which check failed':
    'returns the same 401 for every cause and reports the cause for the event only',
  'A full nonce store rejects new proofs, and deletes no used nonce':
    'throws a fault when full of live nonces, and forgets none of them',
  'A flood of proofs from one address does not keep another address out':
    'returns 429 with Retry-After to the address bucket that floods, and to no other',
  'A stored key digest verifies no key without the pepper that it was made with':
    'a live key under a pepper that this process does not know is a fault, and no denial',
  'The digest of a presented key is compared in constant time':
    'compares the whole digest of a presented key in constant time, right or wrong',
  'Junk, and a key with one wrong character, costs no storage call':
    'denies a key with one changed character by its checksum, without a storage call',
  'Unknown, revoked, expired and wrong keys are denied by the same response':
    'every denial is the same for the caller, and only the reason for the event differs',
  'No key and no session ever holds more than what it was made from':
    'rights only narrow, through any sequence of calls',
  'A session of a key cannot gain the key by rotating it':
    'denies rotation by a session of the key and by callers with fewer rights',
  'Nothing that is minted while a key is being revoked outlives it':
    'nothing minted while the key is being revoked outlives it',
  'All that a leaked session made can be ended with it':
    'nothing that a session, its sessions and its keys create is live after it is ended with its keys',
  'A console gives nobody a right or a credential that outlives it':
    'nothing that a console does gives anybody a right or a credential that outlives it',
  'A delegate cannot keep the wallet from getting a new key':
    'a new wallet proof gets its key whatever a delegate does, and no cap is exceeded',
  'A missing policy document stops the request': 'throws a fault when a policy of a chain is missing',
  'Private signing keys are unreadable in the database':
    'private signing keys are encrypted in the database, and decrypt with their own key only',
  'A leaked signing key is dropped at once':
    'a leaked key is dropped at once, and the announced key or else a new one signs',
  'Every change of a key, policy or session leaves an audit row':
    'every change of keys, policies and sessions writes a row with actor, action and time',
  'A revocation, its feed entry and its audit row are stored together or not at all':
    'a revocation that is killed at any step leaves all or nothing in ${name}',
  'A token under `alg: none` is denied':
    'denies alg none, with and without a signature (CVE-2015-9235 and similar)',
  'A public key cannot be used as an HMAC secret':
    'denies a MAC that is made with the public key (algorithm confusion)',
  'A key verifies by one algorithm':
    'verifies with the one algorithm of a key, and no other of its family or of another',
  'A token cannot bring its own key':
    'denies a token that brings or points to its own key: jwk, jku, x5u, x5c',
  '`iss`, `aud`, `typ`, `kid`, `exp`, `iat` and `nbf` are checked':
    'denies the wrong type, issuer, audience, key id and missing or future dates',
  'Only one spelling of a token is accepted, so no other spelling avoids a cache or a revocation':
    'denies every non-canonical spelling of a valid token (fast-jwt issue 606, jose trailing newline)',
  'The cache never gives one caller the session of another':
    'distinguishes cached tokens that share any part (fast-jwt GHSA-rp9m-7r4c-75qg)',
  'A session ends at its expiry, to the millisecond, cached or not':
    'ends a session exactly at its expiry, also if the token is cached',
  'A DPoP proof that was made for another host and is relayed with its `Host` is denied':
    'a proof that was made for another host is denied, whatever Host it is relayed with',
  'A token that is bound to something that the guard cannot check is denied':
    'denies tokens that are bound in a way that it cannot check',
  'The cache of verified tokens holds no part of their text': 'keeps tokens out of heap snapshots',
  'A weak RSA key of an issuer is rejected, and the fault names it':
    'rejects a weak key of any key source with a fault that names it',
  'A key set that cannot be read is a 503':
    'throws a fault and never denies with 401 when the key set is unavailable',
  'Tokens with made-up key ids cause one fetch of the key set per cool-down':
    'fetches once per cool-down, however many tokens name unknown keys',
  'A key set over plain HTTP is refused, except from this machine':
    'accepts http: only to this machine, unless allowHttp is set',
  'A rule that misspells or forgets its scopes lets nobody pass':
    'accepts no session under a rule that misspells or omits its scopes',
  'A client does no more than it was granted, and no more than its user may, where the token says both':
    'counts what client and user may both do: ${name}, ${client} and ${user}',
  'A session of one surface is denied on the other': 'denies a session of the other surface, both ways',
  'In feed mode a revocation is missed for `boundMs` at most: while the feed is older, every request queries the store':
    'relies on the feed until the end of the bound and queries the store afterwards',
  'A client that holds back the end of a body gains no time: what ended meanwhile is denied before the handler':
    'a session that is revoked before the last byte of a body runs no handler (${name})',
  'Three processes on one store stop a revoked session within 1 s':
    'a revocation reaches 3 hosts within ${BOUND_MS} ms on ${backend} by ${push}',
  'A revocation check that cannot be answered lets nothing pass':
    'throws a fault when the store must be queried and is unavailable, and accepts no session',
  'Forged tokens take nothing from the limit of the key that they name':
    'denies every failed credential with 401 and charges no key for it',
  'Good tokens pass beside forged ones from the same address':
    'accepts cached and new valid tokens during a burst of forged tokens from the same address',
  'A limit lets exactly its points pass in a window, however many requests come at once':
    'accepts exactly the points of a window, however many requests are simultaneous',
  'Operations that spend are denied (503) while the store of their limits is down, unless `localSpends` is set':
    'throws a fault for money operations while the store is down, and never denies with 429',
  'Parallel payments never pass a cap together':
    'accepts exactly the 100 that fit of 500 reservations from 4 processes on ${backend}',
  'New sessions, new keys and rotation do not reset a cap':
    'new sessions, new keys and a rotated key share the counters of their policy',
  'Another policy for a key does not reset what it has used of a cap':
    'an owner who changes a cap of a key does not reset what was used of it',
  'A full spend store rejects reservations, and deletes no counter and no hold':
    'throws a fault when it is full, and deletes no counter and no hold',
  'Adding a deny to a policy never allows more': 'adding a deny to any policy never allows more',
  'A misspelt policy is refused when it is written': 'denies an invalid policy and names the member',
  'A policy with `allowedIps` blocks whatever is not one whole address':
    'blocks a client address that is not a single valid address',
  'The policies of a stolen key bind it wherever the key itself is used':
    'a stolen key that is limited to an address can neither rotate itself nor mint sessions',
  'Simultaneous requests with one key make one effect, over several hosts':
    'runs one of 30 simultaneous duplicates on 3 hosts, and replays its response to 29',
  'Rows and record are stored together or not at all':
    'rolls back rows and record when the connection dies in the handler',
  'A commit whose reply is lost moves money once':
    'takes effect once when the last round trip is lost: ${harm}',
  'A run whose lease (`leaseMs`) ended is never run again by itself':
    'reports a lost run as outcome_unknown from the end of its lease on, and never runs it again',
  'A late owner can neither complete nor release, and every later run has a larger fence':
    'gives a run after a release a larger fence and the same effectId, and refuses completion by the first owner',
  'A key with another payload is denied':
    'denies the key with another payload, another method or one changed byte',
  "One account's key never meets another account's record":
    'separates the keys of two accounts and of two operations',
  'A second payment with another query never gets the response of the first':
    '${name}: the whole query is part of a write in front of an existing handler',
  'A stored response never holds a cookie, and only listed header fields':
    'stores only the listed header fields, in any letter case, and never a cookie',
  'A full store rejects new writes, and deletes no live record':
    'throws a fault when it is full of live records, and deletes none of them',
  'A replay passes the scopes, policies and per-operation limits of whoever asks for it':
    'replays a response if a new call with its amount would satisfy the policies and per-operation limits',
  'An error after a reservation never frees the key or the hold':
    'if a handler throws after it reserved, the hold remains and the outcome is unknown',
  'What a client writes into `X-Forwarded-For` never changes its address':
    'ignores what a client writes into X-Forwarded-For',
  'Without a trusted proxy the header is ignored':
    'without a trusted proxy the peer is the client, whatever the header contains',
  'A body above the limit is denied, announced or not':
    'denies a body above the limit, with and without content-length, and accepts one at the limit',
  'JSON that is nested too deep is denied':
    'denies JSON with more than 32 levels of nesting, including the object itself',
  'What a body schema has checked is what an existing handler reads':
    '${name}: an existing handler reads the body that the schema has checked',
  'A member named `__proto__` is data':
    'keeps a member named __proto__ as data, and the last value of a repeated member',
  'An operation reads no other credential than those it names':
    'verifies only the credential that the operation names',
  'A 5xx response does not say what failed inside the host':
    'does not send the message of a fault or an error',
  'Plain HTTP is denied where HTTPS is required': 'denies plain HTTP if HTTPS is required',
  'An amount is held under every policy of the session before the handler runs':
    'applies the policies of the session',
  'A request is denied while the policies of its session are unavailable':
    'is a fault while the policies are unavailable, malformed or without an id, and never a yes',
  'An operation that spends is refused at start-up if its store counts nothing':
    'refuses an operation that spends, if the store counts nothing',
  'A new project never overwrites files': 'refuses a folder that is not empty, and a file',
  'A path that can be read in two ways is never translated':
    'never translates a path that routers could read differently',
  'No old path reaches an operation that its current path does not reach':
    'no bytes in a legacy path reach an operation that the current path does not reach',
  'Old and new names share limits, records and decisions':
    'old and new names give the same responses, limits, records and decision events for every operation',
  'An old and a current header with two values are denied':
    'reads a legacy header under its current name, and denies different values',
  'No operation shows or changes what belongs to another user':
    "no user operation shows or changes another user's records: their ids are 404",
  'No operation shows what belongs to another partner':
    "no partner operation shows another partner's records, even under the same user id",
  'No two user ids of a partner become one account': 'keeps the accounts of different partner user ids apart',
  'Parallel payments never overdraw a balance':
    'accepts as many of 10 simultaneous payments as the balance covers',
  'A console session moves no money':
    'no operation of a console moves money, and each that writes is known here',
  'A key cannot approve its own payment, nor that of a key under the same policy':
    'neither the key that asks, nor one below it, nor one beside it decides',
  'A web token makes one key or one console': 'a web token makes one key or one console, of 20 tries at once',
  'The page `/helper` cannot be framed': 'is not shown inside the page of another origin',
  'The page keeps no secret in the browser, and sends no request to another host':
    'signs in with the second of two wallets, and makes a key that starts a session',
  'A person types the code of a command line; neither link nor address can fill it in':
    'takes a pasted code, and no code or request token from the address',
  'A request from another network must be confirmed separately':
    'warns of a request from another network, and wants that confirmed by itself',
  'A web page of another origin cannot start a request from the network of whoever visits it':
    'denies the start of a sign-in to a web page of another origin',
  'A signature that comes after the person has left the screen signs nobody in':
    'does not sign in with a signature that comes after the person has left',
  'What leaves an account stays within the policies of the session that triggered it':
    'money that leaves an account is bounded by all policies of the triggering session, on its day',
  'All cards that a session may reveal spend no more than its own policies allow by card':
    'all cards that a caller may reveal spend no more than its own policies allow by card',
  'A transaction settles one pay-in, wherever a reorganisation puts it':
    'a transaction that settled a pay-in settles no other one, wherever a reorganisation mines it',
  'No malformed reply of a node becomes a transfer':
    'whatever JSON a node sends, the reader returns real transfers or faults',
  'Logs, errors and metrics show no credential, whatever clients send':
    'shows no secret in logs, errors or metrics, whatever clients send',
  'The operator page is off by default, and never on the public listener':
    'without OPERATOR_PAGE nothing listens, and the public listener never serves it',
  'The operator listener is reached from its own machine only': 'listens on loopback only',
  'Without the operator token there is no figure and no write':
    'returns no figure and takes no write without the operator token',
  'A page of another origin or port cannot use the operator listener':
    'denies pages of other origins, also of other ports of this machine',
  'A name that DNS points at this machine does not reach it':
    'responds to the names of this machine only, against DNS rebinding',
  'What a proxy on this machine passes on is denied':
    'denies what a proxy passes on, since it would seem to be on this machine',
  'A lost run is decided once': 'resolves a lost run once, of two operators who decide at the same time',
  'The operator token is printed nowhere':
    'a sandbox without OPERATOR_TOKEN keeps one in secrets.json and prints it nowhere',
  'The API reference sends no request to another host and keeps no session':
    'sends a request with a session that was pasted, and keeps it nowhere',
  'Problems of the configuration are reported without its secrets':
    'reports all problems at once, each with its variable and without secrets',
  'Live mode trusts no block of proxies wider than /8, or /7 in IPv6':
    'property: live trusts no block whose addresses differ in one of the first 8 bits (IPv6: 7)',
  'An API key that ends while a body arrives is denied before the handler, like a session':
    'a partner key that ends before the last byte of a body creates no user: ${path}',
  'A live partner key works only after the operator validated it':
    'accepts a partner key only after the operator validated it',
  'The data folder is readable by its owner alone':
    'creates a data folder that only its owner can read, whatever the umask',
  'No error of a call contains the credential that it was made with': 'never contain a credential',
  'A parameter cannot lead a request to another path':
    'refuses a path parameter that would make another path',
  'A write that failed tells its idempotency key, so that it can be repeated without a second effect':
    'end after their number, with the key of the write',
  'Values reach SQL as parameters and never as text': 'passes values as parameters, never as SQL text',
  'Any two texts have two storage keys, whatever a store makes of them':
    'returns different digests for any two different texts, also with lone surrogates',
  'The suites find an adapter that returns a decision when its connection is cut or its reply garbled':
    'catches adapters that resolve instead of throwing when their connection breaks or their reply is malformed',
  'The suites find an adapter that reads and then writes': 'catches an adapter that reads and then writes',
}
