/** An occupation in an application. */
interface Occupation {
  readonly code: string
  readonly label: string
}

const WORDS: readonly Occupation[] = [
  { code: 'employee', label: 'Employee' },
  { code: 'self_employed', label: 'Self-employed' },
  { code: 'business_owner', label: 'Business owner' },
  { code: 'student', label: 'Student' },
  { code: 'retired', label: 'Retired' },
  { code: 'homemaker', label: 'Homemaker' },
  { code: 'unemployed', label: 'Not employed' },
  { code: 'other', label: 'Something else' },
]

/**
 * Codes that clients with US codes send for occupations without one. Their labels differ from those of `WORDS`, because a form
 * may show both.
 */
const WITHOUT_US_CODE: readonly Occupation[] = [
  { code: 'SELFEMP', label: 'Self-employed (SELFEMP)' },
  { code: 'UNEMPLO', label: 'Not employed (UNEMPLO)' },
  { code: 'RETIRED', label: 'Retired (RETIRED)' },
  { code: 'STUDENT', label: 'Student (STUDENT)' },
  { code: 'OTHERXX', label: 'Something else (OTHERXX)' },
]

/**
 * Common codes of the US Standard Occupational Classification (https://www.bls.gov/soc) with its labels: the same in the editions
 * of 2010 and 2018, but for software developers: `15-1132` is of 2010, `15-1252` of 2018.
 */
const US_CODES: readonly Occupation[] = [
  { code: '11-1011', label: 'Chief Executives' },
  { code: '11-1021', label: 'General and Operations Managers' },
  { code: '11-2022', label: 'Sales Managers' },
  { code: '11-3021', label: 'Computer and Information Systems Managers' },
  { code: '11-3031', label: 'Financial Managers' },
  { code: '13-1111', label: 'Management Analysts' },
  { code: '13-2011', label: 'Accountants and Auditors' },
  { code: '13-2052', label: 'Personal Financial Advisors' },
  { code: '15-1132', label: 'Software Developers, Applications' },
  { code: '15-1252', label: 'Software Developers' },
  { code: '17-2051', label: 'Civil Engineers' },
  { code: '17-2141', label: 'Mechanical Engineers' },
  { code: '23-1011', label: 'Lawyers' },
  { code: '25-2021', label: 'Elementary School Teachers, Except Special Education' },
  { code: '27-1024', label: 'Graphic Designers' },
  { code: '29-1141', label: 'Registered Nurses' },
  { code: '33-9032', label: 'Security Guards' },
  { code: '35-2014', label: 'Cooks, Restaurant' },
  { code: '35-3031', label: 'Waiters and Waitresses' },
  { code: '37-2011', label: 'Janitors and Cleaners, Except Maids and Housekeeping Cleaners' },
  { code: '41-2011', label: 'Cashiers' },
  { code: '41-2031', label: 'Retail Salespersons' },
  { code: '41-9022', label: 'Real Estate Sales Agents' },
  { code: '43-4051', label: 'Customer Service Representatives' },
  { code: '47-2031', label: 'Carpenters' },
  { code: '47-2111', label: 'Electricians' },
  { code: '49-3023', label: 'Automotive Service Technicians and Mechanics' },
  { code: '53-3032', label: 'Heavy and Tractor-Trailer Truck Drivers' },
]

/** The occupations that `kyc.values` lists: all words, and common US codes. */
export const OCCUPATIONS: readonly Occupation[] = [...WORDS, ...WITHOUT_US_CODE, ...US_CODES]

const listed = [...WORDS, ...WITHOUT_US_CODE].map(({ code }) => code).join('|')
/** Matches every accepted occupation: a word, a code of `WITHOUT_US_CODE`, or any US code (`NN-NNNN`), listed or not. */
export const OCCUPATION_PATTERN: string = `^(?:${listed}|[0-9]{2}-[0-9]{4})$`
