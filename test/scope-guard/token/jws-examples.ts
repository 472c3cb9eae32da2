// The examples of JWS in RFC 7515 (appendices A and E), RFC 7520 (section 4) and RFC 8037 (appendix A.4), as data.
import type { JWK } from 'jose'

/** One example. */
export interface JwsExample {
  /** What is sent as the token: the compact form, or the JSON of another serialization. */
  readonly token: string
  /** The public key that verifies it, if it is asymmetric, with the algorithm. */
  readonly key?: JWK & { readonly alg: string }
  /** Whether the RFC calls it valid. */
  readonly valid: boolean
  /** Our reason for denying it as a token. */
  readonly ours: string
  /** Why we deny what the RFC calls valid. */
  readonly why: string
}

/** The claims of RFC 7515, A.1: `{ iss: 'joe', exp: 1300819380, 'http://example.com/is_root': true }`, spelled with line breaks. */
const CLAIMS =
  'eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ'
/** The sentence that RFC 7520 signs. */
const SENTENCE =
  'SXTigJlzIGEgZGFuZ2Vyb3VzIGJ1c2luZXNzLCBGcm9kbywgZ29pbmcgb3V0IHlvdXIgZG9vci4gWW91IHN0ZXAgb250byB0aGUgcm9hZCwgYW5kIGlmIHlvdSBkb24ndCBrZWVwIHlvdXIgZmVldCwgdGhlcmXigJlzIG5vIGtub3dpbmcgd2hlcmUgeW91IG1pZ2h0IGJlIHN3ZXB0IG9mZiB0by4'

const RS256_7515 = 'eyJhbGciOiJSUzI1NiJ9'
const ES256_7515 = 'eyJhbGciOiJFUzI1NiJ9'
const A2_SIGNATURE =
  'cC4hiUPoj9Eetdgtv3hF80EGrhuB__dzERat0XF9g2VtQgr9PJbu3XOiZj5RZmh7AAuHIm4Bh-0Qc_lF5YKt_O8W2Fp5jujGbds9uJdbF9CUAr7t1dnZcAcQjbKBYNX4BAynRFdiuB--f_nZLgrnbyTyWzO75vRK5h6xBArLIARNPvkSjtQBMHlb1L07Qe7K0GarZRmB_eSN9383LcOLn6_dO--xi12jzDwusC-eOkHWEsqtFZESc6BfI7noOPqvhJ1phCnvWh6IeYI2w9QOYEUipUTI8np6LbgGY9Fs98rqVt5AXLIhWkWywlVmtVrBp0igcN_IoypGlUPQGe77Rw'
const A3_SIGNATURE = 'DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q'
const HS256_7520 = 'eyJhbGciOiJIUzI1NiIsImtpZCI6IjAxOGMwYWU1LTRkOWItNDcxYi1iZmQ2LWVlZjMxNGJjNzAzNyJ9'
const HS256_SIGNATURE = 's0h6KThzkfBBBkLspW1h84VsJZFTsPPqMDA7g1Md7p0'
const KID_7520 = 'bilbo.baggins@hobbiton.example'

const RSA_7515 = {
  kty: 'RSA',
  alg: 'RS256',
  kid: '2010-12-29',
  n: 'ofgWCuLjybRlzo0tZWJjNiuSfb4p4fAkd_wWJcyQoTbji9k0l8W26mPddxHmfHQp-Vaw-4qPCJrcS2mJPMEzP1Pt0Bm4d4QlL-yRT-SFd2lZS-pCgNMsD1W_YpRPEwOWvG6b32690r2jZ47soMZo9wGzjb_7OMg0LOL-bSf63kpaSHSXndS5z5rexMdbBYUsLA9e-KXBdQOS-UTo7WTBEMa2R2CapHg665xsmtdVMTBQY4uDZlxvb3qCo5ZwKh9kG4LT6_I5IhlJH7aGhyxXFvUK-DWNmoudF8NAco9_h9iaGNj8q2ethFkMLs91kzk2PAcDTW9gb54h4FRWyuXpoQ',
  e: 'AQAB',
} as const
const EC_7515 = {
  kty: 'EC',
  alg: 'ES256',
  kid: 'e9bc097a-ce51-4036-9562-d2ade882db0d',
  crv: 'P-256',
  x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
  y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
} as const
const RSA_7520 = {
  kty: 'RSA',
  kid: KID_7520,
  n: 'n4EPtAOCc9AlkeQHPzHStgAbgs7bTZLwUBZdR8_KuKPEHLd4rHVTeT-O-XV2jRojdNhxJWTDvNd7nqQ0VEiZQHz_AJmSCpMaJMRBSFKrKb2wqVwGU_NsYOYL-QtiWN2lbzcEe6XC0dApr5ydQLrHqkHHig3RBordaZ6Aj-oBHqFEHYpPe7Tpe-OfVfHd1E6cS6M1FZcD1NNLYD5lFHpPI9bTwJlsde3uhGqC0ZCuEHg8lhzwOHrtIQbS0FVbb9k3-tVTU4fg_3L_vniUFAKwuCLqKnS2BYwdq_mzSnbLY7h_qixoR7jig3__kRhuaxwUkRz5iaiQkqgc5gHdrNP5zw',
  e: 'AQAB',
} as const

const NO_AUDIENCE = 'the claims name no audience (RFC 9068 section 2.2)'
const SYMMETRIC = 'who can verify an HMAC can forge it: a set has public keys only'
const NOT_CLAIMS = 'the payload is a sentence, not the claims of a token'
const NOT_COMPACT = 'a bearer token is a JWS in compact form (RFC 9068 section 2, RFC 7519 section 7.2)'

export const JWS_EXAMPLES: Readonly<Record<string, JwsExample>> = {
  'RFC 7515 A.1, HS256': {
    token: `eyJ0eXAiOiJKV1QiLA0KICJhbGciOiJIUzI1NiJ9.${CLAIMS}.dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk`,
    valid: true,
    ours: 'wrong audience',
    why: `${NO_AUDIENCE}; ${SYMMETRIC}`,
  },
  'RFC 7515 A.2, RS256': {
    token: `${RS256_7515}.${CLAIMS}.${A2_SIGNATURE}`,
    key: RSA_7515,
    valid: true,
    ours: 'wrong audience',
    why: NO_AUDIENCE,
  },
  'RFC 7515 A.3, ES256': {
    token: `${ES256_7515}.${CLAIMS}.${A3_SIGNATURE}`,
    key: EC_7515,
    valid: true,
    ours: 'wrong audience',
    why: NO_AUDIENCE,
  },
  'RFC 7515 A.4, ES512': {
    token:
      'eyJhbGciOiJFUzUxMiJ9.UGF5bG9hZA.AdwMgeerwtHoh-l192l60hp9wAHZFVJbLfD_UxMi70cwnZOYaRI1bKPWROc-mZZqwqT2SI-KGDKB34XO0aw_7XdtAG8GaSwFKdCAPZgoXD2YBJZCPEX3xKpRwcdOO8KpEHwJjyqOgzDO7iKvU8vcnwNrmxYbSW9ERBXukOXolLzeO_Jn',
    key: {
      kty: 'EC',
      alg: 'ES512',
      crv: 'P-521',
      x: 'AekpBQ8ST8a8VcfVOTNl353vSrDCLLJXmPk06wTjxrrjcBpXp5EOnYG_NjFZ6OvLFV1jSfS9tsz4qUxcWceqwQGk',
      y: 'ADSmRA43Z1DSNx_RvcLI87cdL07l6jQyyBXMoxVg_l2Th-x3S1WDhjDly79ajL4Kkd0AZMaZmh9ubmf63e3kyMj2',
    },
    valid: true,
    ours: 'claims are not a JSON object',
    why: NOT_CLAIMS,
  },
  'RFC 7515 A.5, unsecured': {
    token: `eyJhbGciOiJub25lIn0.${CLAIMS}.`,
    valid: true,
    ours: 'not a canonical compact JWS',
    why: 'RFC 8725 section 3.2: nobody has signed it',
  },
  'RFC 7515 A.6, general JSON serialization': {
    token: JSON.stringify({
      payload: CLAIMS,
      signatures: [
        { protected: RS256_7515, header: { kid: RSA_7515.kid }, signature: A2_SIGNATURE },
        { protected: ES256_7515, header: { kid: EC_7515.kid }, signature: A3_SIGNATURE },
      ],
    }),
    valid: true,
    ours: 'malformed credential',
    why: NOT_COMPACT,
  },
  'RFC 7515 A.7, flattened JSON serialization': {
    token: JSON.stringify({
      payload: CLAIMS,
      protected: ES256_7515,
      header: { kid: EC_7515.kid },
      signature: A3_SIGNATURE,
    }),
    valid: true,
    ours: 'malformed credential',
    why: NOT_COMPACT,
  },
  'RFC 7515 E, an unknown critical header': {
    token:
      'eyJhbGciOiJub25lIiwNCiAiY3JpdCI6WyJodHRwOi8vZXhhbXBsZS5jb20vVU5ERUZJTkVEIl0sDQogImh0dHA6Ly9leGFtcGxlLmNvbS9VTkRFRklORUQiOnRydWUNCn0.RkFJTA.',
    valid: false,
    ours: 'not a canonical compact JWS',
    why: '',
  },
  'RFC 7520 4.1, RS256': {
    token: `eyJhbGciOiJSUzI1NiIsImtpZCI6ImJpbGJvLmJhZ2dpbnNAaG9iYml0b24uZXhhbXBsZSJ9.${SENTENCE}.MRjdkly7_-oTPTS3AXP41iQIGKa80A0ZmTuV5MEaHoxnW2e5CZ5NlKtainoFmKZopdHM1O2U4mwzJdQx996ivp83xuglII7PNDi84wnB-BDkoBwA78185hX-Es4JIwmDLJK3lfWRa-XtL0RnltuYv746iYTh_qHRD68BNt1uSNCrUCTJDt5aAE6x8wW1Kt9eRo4QPocSadnHXFxnt8Is9UzpERV0ePPQdLuW3IS_de3xyIrDaLGdjluPxUAhb6L2aXic1U12podGU0KLUQSE_oI-ZnmKJ3F4uOZDnd6QZWJushZ41Axf_fcIe8u9ipH84ogoree7vjbU5y18kDquDg`,
    key: { ...RSA_7520, alg: 'RS256' },
    valid: true,
    ours: 'claims are not a JSON object',
    why: NOT_CLAIMS,
  },
  'RFC 7520 4.2, PS384': {
    token: `eyJhbGciOiJQUzM4NCIsImtpZCI6ImJpbGJvLmJhZ2dpbnNAaG9iYml0b24uZXhhbXBsZSJ9.${SENTENCE}.cu22eBqkYDKgIlTpzDXGvaFfz6WGoz7fUDcfT0kkOy42miAh2qyBzk1xEsnk2IpN6-tPid6VrklHkqsGqDqHCdP6O8TTB5dDDItllVo6_1OLPpcbUrhiUSMxbbXUvdvWXzg-UD8biiReQFlfz28zGWVsdiNAUf8ZnyPEgVFn442ZdNqiVJRmBqrYRXe8P_ijQ7p8Vdz0TTrxUeT3lm8d9shnr2lfJT8ImUjvAA2Xez2Mlp8cBE5awDzT0qI0n6uiP1aCN_2_jLAeQTlqRHtfa64QQSUmFAAjVKPbByi7xho0uTOcbH510a6GYmJUAfmWjwZ6oD4ifKo8DYM-X72Eaw`,
    key: { ...RSA_7520, alg: 'PS384' },
    valid: true,
    ours: 'claims are not a JSON object',
    why: NOT_CLAIMS,
  },
  'RFC 7520 4.3, ES512': {
    token: `eyJhbGciOiJFUzUxMiIsImtpZCI6ImJpbGJvLmJhZ2dpbnNAaG9iYml0b24uZXhhbXBsZSJ9.${SENTENCE}.AE_R_YZCChjn4791jSQCrdPZCNYqHXCTZH0-JZGYNlaAjP2kqaluUIIUnC9qvbu9Plon7KRTzoNEuT4Va2cmL1eJAQy3mtPBu_u_sDDyYjnAMDxXPn7XrT0lw-kvAD890jl8e2puQens_IEKBpHABlsbEPX6sFY8OcGDqoRuBomu9xQ2`,
    key: {
      kty: 'EC',
      alg: 'ES512',
      kid: KID_7520,
      crv: 'P-521',
      x: 'AHKZLLOsCOzz5cY97ewNUajB957y-C-U88c3v13nmGZx6sYl_oJXu9A5RkTKqjqvjyekWF-7ytDyRXYgCF5cj0Kt',
      y: 'AdymlHvOiLxXkEhayXQnNCvDX4h9htZaCJN34kfmC6pV5OhQHiraVySsUdaQkAgDPrwQrJmbnX9cwlGfP-HqHZR1',
    },
    valid: true,
    ours: 'claims are not a JSON object',
    why: NOT_CLAIMS,
  },
  'RFC 7520 4.4, HS256': {
    token: `${HS256_7520}.${SENTENCE}.${HS256_SIGNATURE}`,
    valid: true,
    ours: 'claims are not a JSON object',
    why: `${SYMMETRIC}; ${NOT_CLAIMS}`,
  },
  'RFC 7520 4.5, detached content': {
    token: `${HS256_7520}..${HS256_SIGNATURE}`,
    valid: true,
    ours: 'not a canonical compact JWS',
    why: 'a token carries its claims',
  },
  'RFC 7520 4.6, some header members protected': {
    token: JSON.stringify({
      payload: SENTENCE,
      protected: 'eyJhbGciOiJIUzI1NiJ9',
      header: { kid: '018c0ae5-4d9b-471b-bfd6-eef314bc7037' },
      signature: 'bWUSVaxorn7bEF1djytBd0kHv70Ly5pvbomzMWSOr20',
    }),
    valid: true,
    ours: 'malformed credential',
    why: NOT_COMPACT,
  },
  'RFC 7520 4.7, no header member protected': {
    token: JSON.stringify({
      payload: SENTENCE,
      header: { alg: 'HS256', kid: '018c0ae5-4d9b-471b-bfd6-eef314bc7037' },
      signature: 'xuLifqLGiblpv9zBpuZczWhNj1gARaLV3UxvxhJxZuk',
    }),
    valid: true,
    ours: 'malformed credential',
    why: NOT_COMPACT,
  },
  'RFC 7520 4.8, several signatures': {
    token: JSON.stringify({
      payload: SENTENCE,
      signatures: [
        {
          protected: RS256_7515,
          header: { kid: KID_7520 },
          signature:
            'MIsjqtVlOpa71KE-Mss8_Nq2YH4FGhiocsqrgi5NvyG53uoimic1tcMdSg-qptrzZc7CG6Svw2Y13TDIqHzTUrL_lR2ZFcryNFiHkSw129EghGpwkpxaTn_THJTCglNbADko1MZBCdwzJxwqZc-1RlpO2HibUYyXSwO97BSe0_evZKdjvvKSgsIqjytKSeAMbhMBdMma622_BG5t4sdbuCHtFjp9iJmkio47AIwqkZV1aIZsv33uPUqBBCXbYoQJwt7mxPftHmNlGoOSMxR_3thmXTCm4US-xiNOyhbm8afKK64jU6_TPtQHiJeQJxz9G3Tx-083B745_AfYOnlC9w',
        },
        {
          header: { alg: 'ES512', kid: KID_7520 },
          signature:
            'ARcVLnaJJaUWG8fG-8t5BREVAuTY8n8YHjwDO1muhcdCoFZFFjfISu0Cdkn9Ybdlmi54ho0x924DUz8sK7ZXkhc7AFM8ObLfTvNCrqcI3Jkl2U5IX3utNhODH6v7xgy1Qahsn0fyb4zSAkje8bAWz4vIfj5pCMYxxm4fgV3q7ZYhm5eD',
        },
        { protected: HS256_7520, signature: HS256_SIGNATURE },
      ],
    }),
    valid: true,
    ours: 'malformed credential',
    why: NOT_COMPACT,
  },
  'RFC 8037 A.4, EdDSA': {
    token:
      'eyJhbGciOiJFZERTQSJ9.RXhhbXBsZSBvZiBFZDI1NTE5IHNpZ25pbmc.hgyY0il_MGCjP0JzlnLWG1PPOt7-09PGcvMg3AIbQR6dWbhijcNR4ki4iylGjg5BhVsPt9g7sVvpAr_MuM0KAg',
    key: { kty: 'OKP', alg: 'EdDSA', crv: 'Ed25519', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' },
    valid: true,
    ours: 'claims are not a JSON object',
    why: NOT_CLAIMS,
  },
}
