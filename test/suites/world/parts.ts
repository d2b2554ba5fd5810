import type { Part } from './part.ts'

/** The table of contents, in the order of a whole run. */
export const PARTS: Record<string, () => Promise<{ part: Part }>> = {
  opentofu: () => import('./opentofu/part.ts'),
  aws: () => import('./aws/part.ts'),
  'iac-eval': () => import('./iac-eval/part.ts'),
  providers: () => import('./providers/part.ts'),
  checkov: () => import('./checkov/part.ts'),
  schemas: () => import('./schemas/part.ts'),
  oracles: () => import('./oracles/part.ts'),
  'model-servers': () => import('./model-servers/part.ts'),
  'git-hosts': () => import('./git-hosts/part.ts'),
  gitlab: async () => ({ part: (await import('./git-hosts/part.ts')).gitlab }),
  'azure-devops': async () => ({ part: (await import('./git-hosts/part.ts')).azureDevops }),
  poolers: () => import('./poolers/part.ts'),
  minio: () => import('./minio/part.ts'),
  backends: () => import('./backends/part.ts'),
  schemathesis: () => import('./schemathesis/part.ts'),
  kubeconfig: () => import('./kubeconfig/part.ts'),
  oci: () => import('./oci/part.ts'),
  phoenix: () => import('./phoenix/part.ts'),
  oidc: () => import('./oidc/part.ts'),
  collector: () => import('./collector/part.ts'),
  proxies: () => import('./proxies/part.ts'),
  prometheus: () => import('./prometheus/part.ts'),
  kubernetes: () => import('./kubernetes/part.ts'),
  chart: () => import('./chart/part.ts'),
}
