import { describe, expect, it } from 'vitest'
import { engineArguments } from '../../../../../sidecars/iac/engine/command.ts'
import { stateResourceIds } from '../../../../../sidecars/iac/jobs/execute.ts'

/** Returns identifiers of a state with one resource. */
function idsOf(type: string, attributes: object) {
  return stateResourceIds(
    JSON.stringify({ version: 4, resources: [{ mode: 'managed', type, name: 'x', instances: [{ attributes }] }] }),
  )
}

describe('a state', () => {
  it.each([
    ['kubernetes_deployment_v1', 'shop/web', ['apiVersion=apps/v1,kind=Deployment,namespace=shop,name=web']],
    ['kubernetes_service', 'shop/web', ['apiVersion=v1,kind=Service,namespace=shop,name=web']],
    ['kubernetes_namespace_v1', 'shop', ['apiVersion=v1,kind=Namespace,name=shop']],
    [
      'kubernetes_validating_admission_policy_v1',
      'no-root',
      ['apiVersion=admissionregistration.k8s.io/v1,kind=ValidatingAdmissionPolicy,name=no-root'],
    ],
    ['kubernetes_cluster_role', 'a:b', ['apiVersion=rbac.authorization.k8s.io/v1,kind=ClusterRole,name=a:b']],
    [
      'kubernetes_horizontal_pod_autoscaler_v2beta2',
      'shop/web',
      ['v2', 'v2beta2', 'v1'].map(
        (version) => `apiVersion=autoscaling/${version},kind=HorizontalPodAutoscaler,namespace=shop,name=web`,
      ),
    ],
    ['kubernetes_config_map_v1_data', 'shop/settings', []],
    ['kubernetes_labels', 'shop/web', []],
    ['aws_s3_bucket', 'bucket', []],
  ])('names what a %s manages', (type, id, more) => {
    expect(idsOf(type, { id })).toEqual([id, ...more])
  })

  const manifest = { apiVersion: 'example.com/v1', kind: 'Shop', metadata: { name: 'one', namespace: 'shop' } }
  it.each([
    ['as engines write values of any type', { manifest: { type: ['object', {}], value: manifest }, object: null }],
    ['in full', { manifest: { value: {} }, object: { type: [], value: { ...manifest, status: {} } } }],
    ['plain', { manifest }],
  ])('names manifests %s, which have no id', (_name, attributes) => {
    expect(idsOf('kubernetes_manifest', attributes)).toEqual([
      'apiVersion=example.com/v1,kind=Shop,namespace=shop,name=one',
    ])
  })

  it('names the manifests of kubectl', () => {
    const id = '/api/v1/namespaces/shop/configmaps/a'
    const attributes = { id, api_version: 'v1', kind: 'ConfigMap', name: 'a', namespace: 'shop' }
    const expected = [id, 'apiVersion=v1,kind=ConfigMap,namespace=shop,name=a']
    expect(idsOf('kubectl_manifest', attributes)).toEqual(expected)
  })

  it.each([
    ['kubernetes_manifest', { manifest: { value: [] }, object: 'x' }],
    ['kubernetes_manifest', { manifest: { value: { apiVersion: 1, kind: 'A', metadata: [] } } }],
    ['kubernetes_secret', { id: { a: 1 } }],
    ['constructor', { manifest: 1 }],
    ['kubernetes_constructor', { id: 7 }],
  ])('of an absurd %s names nothing', (type, attributes) => {
    expect(idsOf(type, attributes)).toEqual([])
  })

  it('does not stumble over names of prototypes and commas', () => {
    expect(idsOf('kubernetes_constructor', { id: 'a/b' })).toEqual(['a/b'])
    expect(idsOf('kubernetes_role', { id: 'shop/a,kind=Secret' })).toEqual(['shop/a,kind=Secret'])
  })
})

describe('an import', () => {
  const DEPLOYMENT = 'apiVersion=apps/v1,kind=Deployment,namespace=shop,name=web'
  const SERVICE = 'apiVersion=serving.knative.dev/v1,kind=Service,namespace=shop,name=web'
  const ROLE = 'apiVersion=rbac.authorization.k8s.io/v1,kind=ClusterRole,name=shop'
  const SCALER = 'apiVersion=autoscaling/v2,kind=HorizontalPodAutoscaler'
  const argument = (address: string, resource_id: string, engine_provider: 'kubernetes' | 'aws' = 'kubernetes') => {
    const body = { workspace_path: '/w', scope_id: 's', engine_provider, address, resource_id }
    return engineArguments('import', body, '')?.at(-1)
  }

  it.each([
    ['kubernetes_manifest.web', DEPLOYMENT, DEPLOYMENT],
    ['kubernetes_deployment_v1.web', DEPLOYMENT, 'shop/web'],
    ['module.a["x.y"].kubernetes_deployment.web["a.b"]', DEPLOYMENT, 'shop/web'],
    ['kubernetes_namespace_v1.shop', 'apiVersion=v1,kind=Namespace,name=shop', 'shop'],
    ['kubectl_manifest.web[0]', DEPLOYMENT, 'apps/v1//Deployment//web//shop'],
    ['kubectl_manifest.shop', 'apiVersion=v1,kind=Namespace,name=shop', 'v1//Namespace//shop'],
    ['kubernetes_deployment_v1.web', 'shop/web', 'shop/web'],
    ['terraform_data.web', DEPLOYMENT, DEPLOYMENT],
    ['web', DEPLOYMENT, DEPLOYMENT],
    ['kubernetes_secret.a', 'apiVersion=v1,kind=Secret,name=', 'apiVersion=v1,kind=Secret,name='],
    // An object in whatever version its group lists it.
    ['kubernetes_horizontal_pod_autoscaler_v1.web', `${SCALER},namespace=shop,name=web`, 'shop/web'],
    // No namesake of another kind.
    ['kubernetes_service_v1.web', DEPLOYMENT, DEPLOYMENT],
    ['kubernetes_service_v1.web', SERVICE, SERVICE],
    ['kubernetes_namespace_v1.shop', ROLE, ROLE],
  ])('of %s from %s takes %s', (address, id, expected) => {
    expect(argument(address, id)).toBe(expected)
  })

  it('of another cloud takes what it is given', () => {
    expect(argument('kubernetes_deployment_v1.web', DEPLOYMENT, 'aws')).toBe(DEPLOYMENT)
  })
})
