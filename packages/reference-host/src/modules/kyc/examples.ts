/** An application in examples and tests. */
export const application = {
  firstName: 'Ada',
  lastName: 'Approved',
  birthDate: '1990-01-31',
  countryOfIssue: 'US',
  email: 'ada@example.com',
  address: {
    line1: '1 Main Street',
    city: 'Springfield',
    region: 'IL',
    postalCode: '62701',
    countryCode: 'US',
  },
  occupation: 'employee',
  annualSalary: '<40k',
  accountPurpose: 'testing',
  expectedMonthlyVolume: 'under $1k',
  nationalId: '123-45-6789',
}

const state = {
  id: 'kyc_7a2b63dcd9dd4dd5bc1f5fc3d9a2d0f4',
  status: 'approved',
  reason: null,
  completionLink: null,
  externalVerificationLink: null,
  isActive: true,
  isTermsOfServiceAccepted: false,
}

/** An approved application, by surface. */
export const response = { user: { application: state }, partner: state }
