// Prints the body of a bootstrap request, signed by $WALLET_PRIVATE_KEY or a new wallet: node build/examples/wallet-client/sign.js | curl ... -d @-
import { newProof } from './proof.ts'

console.log(JSON.stringify((await newProof()).body))
