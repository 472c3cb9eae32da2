import { allow } from '@gatewright/kernel'
import * as Type from 'typebox/type'
import { type HostServices, type Operation, operation } from '@gatewright/host'
import { originOf } from '@gatewright/host/internal'
import { component, text } from '@gatewright/host/schemas'

/** The path of evaluations (AuthZEN Authorization API 1.0, section 10.1.1). */
export const EVALUATION_PATH = '/access/v1/evaluation'

const Configuration = Type.Object(
  {
    policy_decision_point: text('The origin of this host'),
    access_evaluation_endpoint: text('Where access requests are evaluated'),
  },
  component('AccessConfiguration', 'The metadata of this host as a policy decision point'),
)

/** `GET /.well-known/authzen-configuration`: where access requests are evaluated (AuthZEN Authorization API 1.0, section 9). */
export function accessConfiguration({ config }: Pick<HostServices, 'config'>): Operation {
  const origin = originOf(config)
  const configuration = {
    policy_decision_point: origin,
    access_evaluation_endpoint: `${origin}${EVALUATION_PATH}`,
  }
  return operation({
    id: 'access.configuration',
    title: 'Where access requests are evaluated',
    surface: 'public',
    method: 'GET',
    paths: ['/.well-known/authzen-configuration'],
    credential: 'none',
    limit: 'document',
    document: true,
    response: Configuration,
    example: {
      response: {
        policy_decision_point: 'https://pay.example',
        access_evaluation_endpoint: `https://pay.example${EVALUATION_PATH}`,
      },
    },
    handle: async () =>
      allow({ document: configuration, headers: [['Cache-Control', 'public, max-age=300']] }),
  })
}
