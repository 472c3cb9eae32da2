/** When the things that examples show were made. */
export const AT = '2026-11-01T12:00:00.000Z'
/** A quarter of an hour after `AT`: when the sessions that examples show expire. */
export const LATER = '2026-11-01T12:15:00.000Z'
/** The wallet of the user that examples show, in lower case. */
export const WALLET = '0x52908400098527886e0f7030069857d2e4169ee7'
/** The position of a next page. */
export const CURSOR = 'YWZ0ZXI6MQ'
// The parts of a key and a token that would be secret are left out.
const KEY = 'gw_sandbox_user_...'
const TOKEN = 'eyJ...'

/** A session with its token, as the answer that makes it shows it. */
export const session = {
  sessionToken: TOKEN,
  sessionId: 'Zy3cQk1vPm8sT0aB',
  expiresAt: LATER,
  scopes: ['subscriptions.write'],
}

/** A key with its text, as the answer that makes it shows it. */
export const key = {
  userApiKey: KEY,
  userKeyId: 'a1B2c3D4e5F6g7H8',
  consumerApiKey: KEY,
  consumerKeyId: 'a1B2c3D4e5F6g7H8',
  keyPrefix: 'gw_sandbox_user_a1B2c3D4e5F6g7H8',
}

/** Whose key it is. */
export const owner = { walletAddress: WALLET, userId: 'usr_79db7a61096340598de4661d67683883' }
