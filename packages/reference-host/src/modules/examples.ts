/** Creation time of all objects in examples. */
export const AT = '2026-11-01T12:00:00.000Z'
/** 15 minutes after `AT`: the expiry of example sessions. */
export const LATER = '2026-11-01T12:15:00.000Z'
/** The example user's wallet, in lower case. */
export const WALLET = '0x52908400098527886e0f7030069857d2e4169ee7'
// The secret parts of the key and the token are left out.
const KEY = 'gw_sandbox_user_...'
const TOKEN = 'eyJ...'

/** A new session with its token. */
export const session = {
  sessionToken: TOKEN,
  sessionId: 'Zy3cQk1vPm8sT0aB',
  expiresAt: LATER,
  scopes: ['subscriptions.write'],
}

/** A new key with its secret text. */
export const key = {
  userApiKey: KEY,
  userKeyId: 'a1B2c3D4e5F6g7H8',
  consumerApiKey: KEY,
  consumerKeyId: 'a1B2c3D4e5F6g7H8',
  keyPrefix: 'gw_sandbox_user_a1B2c3D4e5F6g7H8',
}

/** The owner of the example key. */
export const owner = { walletAddress: WALLET, userId: 'usr_79db7a61096340598de4661d67683883' }
