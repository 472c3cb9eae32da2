import { onOff, operatorToken, wholeNumber } from './parsers.ts'
import { optional, variable } from './variable.ts'

/** The variables of the pages for browsers. */
export const pageVariables = {
  HELPER_PAGE: variable(
    onOff,
    true,
    '`on`',
    '`on` serves `/helper`, where a wallet signs in in a browser, makes a key or approves a command line',
  ),
  DOCS_PAGE: variable(
    onOff,
    true,
    '`on`',
    '`on` serves `/docs`, the API reference with forms that send requests',
  ),
  OPERATOR_PAGE: variable(
    onOff,
    false,
    '`off`',
    '`on` serves the [operator page](operator-page.md) on a listener of its own, which only this machine reaches',
  ),
  OPERATOR_PORT: variable(
    wholeNumber(0, 65_535),
    3001,
    '`3001`',
    'The port of the operator page on 127.0.0.1; 0 takes a free port',
  ),
  OPERATOR_TOKEN: optional(
    operatorToken,
    'generated in a sandbox',
    '32 to 256 visible ASCII characters that the operator types into the operator page',
  ),
} as const
