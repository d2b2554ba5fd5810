import { describe, expect, it } from 'vitest'
import type { Cloud } from '../../../src/base/vocabulary.ts'
import { blameOf } from '../../../src/plan/diagnostics/blame.ts'
import { parseDiagnostics } from '../../../src/plan/diagnostics/parse.ts'
import { explainUnmendable } from '../../../src/plan/diagnostics/unmendable.ts'
import { versionsOf } from '../code/versions.ts'
import { recorded } from './support.ts'

/** The code before and after the session. */
interface Session {
  cloud?: Cloud
  before?: string
  after?: string
  others?: Record<string, string>
}

function why(text: string, { cloud = 'aws', before = '', after = before, others = {} }: Session = {}) {
  const versions = versionsOf({ 'main.tf': before }, { 'main.tf': after })
  const files = Object.entries({ ...others, 'main.tf': after }).map(([path, code]) => ({ path, text: code }))
  return explainUnmendable(parseDiagnostics(text), { blame: blameOf(versions, files), cloud })
}

const PROVIDER =
  '\n\n  with provider["registry.terraform.io/hashicorp/aws"],\n  on provider.tf line 1, in provider "aws":\n' +
  '   1: provider "aws" {\n\n'
const RESOURCE =
  '\n\n  with aws_s3_bucket.logs,\n  on main.tf line 1, in resource "aws_s3_bucket" "logs":\n' +
  '   1: resource "aws_s3_bucket" "logs" {\n\n'

/** The error about a module, as Terraform 1.11 words and wraps it. */
const notFetched = (said: string, place = 'main.tf:1', source = 'git::https://git.example.com/acme/net.git') =>
  `Error: Failed to download module\n\n  on main.tf line 1:\n   1: module "x" {\n\nCould not download module "x" (${place}) source code from\n"${source}": error downloading\n'${source.replace('git::', '')}': /usr/bin/git exited with 128:\nCloning into '.terraform/modules/x'...\n${said}\n`

describe('modules that cannot be fetched', () => {
  const call = (source: string, name = 'x') => `module "${name}" {\n  source = "${source}"\n}\n`
  const UNRESOLVED =
    "fatal: unable to access 'https://git.example.com/acme/net.git/': Could not\nresolve host: git.example.com"

  it.each([
    [UNRESOLVED, 'the host is not reached'],
    [
      "fatal: unable to access 'x': Failed to connect to\n127.0.0.1 port 9 after 0 ms: Couldn't connect to server",
      'not reached',
    ],
    [
      'ssh: Could not resolve hostname no-such-host.invalid: Name or service not\nknown\nfatal: Could not read from remote repository.',
      'not reached|may not read it',
    ],
    ["fatal: could not read Username for 'https://git.example.com': terminal prompts disabled", 'may not read it'],
    ["fatal: Authentication failed for 'https://git.example.com/acme/net.git/'", 'may not read it'],
    [
      "remote: Repository not found.\nfatal: repository 'https://git.example.com/acme/net.git/' not found",
      'may not read it',
    ],
    ['git@git.example.com: Permission denied (publickey).', 'may not read it'],
    ["error: pathspec 'v9' did not match any file(s) known to git", 'correct that in the repository'],
  ])('end the round, case %#', (said, says) => {
    const text = why(notFetched(said)) ?? ''
    expect(text).toMatch(new RegExp(`^No change of the code can mend this\\. .*${says}`))
    expect(text).toContain('the module "x" (main.tf:1) from git::https://git.example.com/acme/net.git')
  })

  it('are named without the credentials of their address', () => {
    const text = why(notFetched(UNRESOLVED, 'main.tf:1', 'git::https://me:secret@git.example.com/a.git'))
    expect(text).toContain('git::https://git.example.com/a.git')
    expect(text).not.toContain('secret')
  })

  it('of a registry are recognised as well', () => {
    const registry =
      'Error: Error accessing remote module registry\n\n  on main.tf line 1:\n   1: module "x" {\n\nFailed to retrieve ' +
      'available versions for module "x" (main.tf:1) from\nregistry.terraform.io: failed to request discovery document: ' +
      'Get\n"https://registry.terraform.io/.well-known/terraform.json": dial tcp: lookup\nregistry.terraform.io: no such host.'
    expect(why(registry)).toContain('the module "x" (main.tf:1) from registry.terraform.io: the host is not reached')
    expect(why(registry, { after: call('acme/vpc/aws') })).toBeNull()
  })

  it.each<[string, string, string, boolean]>([
    ['a new call', '', call('git::https://git.example.com/acme/net.git'), true],
    ['a new source', call('./net'), call('git@git.example.com:acme/net.git'), true],
    ['another call', '', call('git::https://git.example.com/acme/other.git', 'y'), false],
    ['another name', call('git.example.com/acme/net', 'y'), call('git.example.com/acme/net', 'z'), false],
    ['a new comment', call('git.example.com/acme/net'), `# why\n${call('git.example.com/acme/net')}`, false],
  ])('are for the generator after %s: %s', (_, before, after, own) => {
    expect(why(notFetched(UNRESOLVED), { before, after }) === null).toBe(own)
  })

  it('inside of others count as the call in the repository', () => {
    const inner = notFetched(UNRESOLVED, '.terraform/modules/net.sub/main.tf:4')
    expect(why(inner)).toContain('the module "net"')
    expect(why(inner, { after: call('acme/net/aws', 'net') })).toBeNull()
  })
})

describe('errors that no change of the code can mend', () => {
  it.each<[string, string, Cloud?]>([
    [
      'credentials',
      `Error: No valid credential sources found${PROVIDER}Please see the documentation.\n\n` +
        'Error: failed to refresh cached credentials, no EC2 IMDS role found',
    ],
    [
      'credentials',
      'Error: configuring Terraform AWS Provider: validating provider credentials: retrieving caller identity ' +
        'from STS: operation error STS: GetCallerIdentity, https response error StatusCode: 403, RequestID: 1, api ' +
        'error ExpiredToken: The security token included in the request is expired',
    ],
    [
      'credentials',
      'Error: validating provider credentials: retrieving caller identity from STS: operation error STS: ' +
        'GetCallerIdentity, https response error StatusCode: 403, api error InvalidClientTokenId: The security ' +
        'token included in the request is invalid.',
    ],
    [
      'credentials',
      'Error: reading S3 Bucket (x): operation error S3: HeadBucket, https response error StatusCode: 400, api ' +
        `error ExpiredToken: The provided token has expired.${RESOURCE}`,
    ],
    [
      'credentials',
      'Error: unable to build authorizer for Resource Manager API: could not configure AzureCli Authorizer: ' +
        'could not parse Azure CLI version',
      'azure',
    ],
    [
      'credentials',
      'Error: building account: could not acquire access token to parse claims: clientCredentialsToken: received ' +
        'HTTP status 401 with response: AADSTS7000222: The provided client secret keys for app are expired.',
      'azure',
    ],
    [
      'credentials',
      'Error: Attempted to load application default credentials since neither `credentials` nor `access_token` ' +
        "was set in the provider block.  No credentials loaded. To use your gcloud credentials, run 'gcloud auth " +
        "application-default login'",
      'gcp',
    ],
    [
      'credentials',
      'Error: Error when reading or editing Storage Bucket "x": Get ' +
        '"https://storage.googleapis.com/storage/v1/b/x": oauth2: cannot fetch token: 400 Bad Request',
      'gcp',
    ],
    [
      'credentials',
      'Error: can not create client, bad configuration: did not find a proper configuration for private key',
      'oci',
    ],
    [
      'credentials',
      'Error: 401-NotAuthenticated, The required information to complete authentication was not provided or was ' +
        'incorrect.',
      'oci',
    ],
    [
      'credentials',
      'Error: Unauthorized\n\n  with kubernetes_namespace.shop,\n' +
        '  on main.tf line 1, in resource "kubernetes_namespace" "shop":\n' +
        '   1: resource "kubernetes_namespace" "shop" {\n',
      'kubernetes',
    ],
    [
      'are refused',
      'Error: validating provider credentials: operation error STS: GetCallerIdentity, https response error ' +
        'StatusCode: 403, api error AccessDenied: User: x is not authorized to perform: ' +
        `sts:GetCallerIdentity${PROVIDER}`,
    ],
    [
      'cannot reach',
      'Error: retrieving caller identity from STS: Post "https://sts.amazonaws.com/": dial tcp: lookup ' +
        'sts.amazonaws.com on 192.0.2.1:53: no such host',
    ],
    [
      'cannot reach',
      'Error: Get "https://management.azure.com/subscriptions/x?api-version=2022": dial tcp 192.0.2.2:443: i/o timeout',
      'azure',
    ],
    [
      'cannot reach',
      'Error: Get "https://10.0.0.7:6443/api/v1/namespaces/default/configmaps/web": dial tcp 10.0.0.7:6443: connect: ' +
        'connection refused\n\n  with kubernetes_config_map_v1.web,\n  on main.tf line 1, in resource ' +
        '"kubernetes_config_map_v1" "web":\n   1: resource "kubernetes_config_map_v1" "web" {\n',
      'kubernetes',
    ],
    [
      'cannot reach',
      'Error: Get "https://rancher.example.com/k8s/clusters/c-1/apis/apps/v1/namespaces/default/deployments/web": net/http: ' +
        'TLS handshake timeout',
      'kubernetes',
    ],
    [
      'cannot reach',
      'Error: Get "https://10.0.0.7:6443/apis/rbac.authorization.k8s.io/v1/clusterroles/web": EOF',
      'kubernetes',
    ],
    [
      'cannot download',
      'Error: Failed to install provider\n\nError while installing hashicorp/aws v5.1.0: could not query ' +
        'provider registry for\nregistry.opentofu.org/hashicorp/aws: Get "https://registry.opentofu.org/v1": ' +
        'net/http: TLS handshake timeout',
    ],
    [
      'rate of calls',
      'Error: listing EC2 Instances: operation error EC2: DescribeInstances, https response error StatusCode: ' +
        `503, api error RequestLimitExceeded: Request limit exceeded.${RESOURCE}`,
    ],
    ['rate of calls', 'Error: googleapi: Error 429: Quota exceeded for quota metric, rateLimitExceeded', 'gcp'],
    [
      'quota',
      "Error: googleapi: Error 403: Quota 'CPUS' exceeded.  Limit: 24.0 in region us-central1., quotaExceeded",
      'gcp',
    ],
    [
      'quota',
      'Error: Code="OperationNotAllowed" Message="Operation could not be completed as it results in exceeding ' +
        'approved Total Regional Cores quota."',
      'azure',
    ],
    ['state', 'Error: error configuring S3 Backend: no such thing\n\nS3 bucket "state" does not exist.'],
    [
      'state',
      'Error: Error acquiring the state lock\n\nError message: operation error S3: PutObject, https response ' +
        'error StatusCode: 403, api error AccessDenied: Access Denied',
    ],
    [
      'disk',
      'Error: Failed to install provider\n\nError while installing hashicorp/aws v5.1.0: write /x: no space left ' +
        'on device',
    ],
  ])('%s, case %#', (says, text, cloud) => {
    expect(why(text, cloud ? { cloud } : {})).toMatch(
      new RegExp(`^No change of the code can mend this\\. .*${says}.* The engine said: `, 's'),
    )
  })

  it.each<[string, string, Cloud?]>([
    ['valid credentials', 'no valid credential source for S3 Backend found'],
    ['valid credentials', 'api error ExpiredToken: x'],
    ['valid credentials', 'api error ExpiredTokenException: x'],
    ['valid credentials', 'api error UnrecognizedClientException: x'],
    ['valid credentials', 'api error InvalidAccessKeyId: x'],
    ['valid credentials', 'AuthFailure: AWS was not able to validate the provided access credentials'],
    ['valid credentials', 'the SSO session has expired or is invalid'],
    ['valid credentials', 'SSO token was invalid'],
    ['valid credentials', 'refresh cached SSO token failed, request failed'],
    ['valid credentials', 'could not configure MSI Authorizer: x', 'azure'],
    ['valid credentials', 'Code="InvalidAuthenticationToken"', 'azure'],
    ['valid credentials', 'Code="ExpiredAuthenticationToken"', 'azure'],
    ['valid credentials', "Please run 'az login' to setup account.", 'azure'],
    ['valid credentials', 'obtain subscription() from Azure CLI: x', 'azure'],
    ['valid credentials', 'obtain subscription(0f-1) from Azure CLI: x', 'azure'],
    ['valid credentials', 'AzureCLICredential: failed', 'azure'],
    ['valid credentials', 'ClientSecretCredential authentication failed', 'azure'],
    ['valid credentials', 'could not find default credentials.', 'gcp'],
    ['valid credentials', 'oauth2: "invalid_grant" "Bad Request"', 'gcp'],
    ['valid credentials', 'oauth2: invalid_client', 'gcp'],
    ['valid credentials', '"error_subtype": "invalid_rapt"', 'gcp'],
    ['valid credentials', 'Request had invalid authentication credentials.', 'gcp'],
    ['valid credentials', 'the server has asked for the client to provide credentials', 'kubernetes'],
    ['valid credentials', 'invalid configuration: no configuration has been provided', 'kubernetes'],
    ['rate of calls', 'api error Throttling: x'],
    ['rate of calls', 'api error ThrottlingException: x'],
    ['rate of calls', 'api error Throttled: x'],
    ['rate of calls', 'api error TooManyRequests: x'],
    ['rate of calls', 'api error TooManyRequestsException: x'],
    ['rate of calls', 'api error SlowDown: x'],
    ['rate of calls', 'reason: RATE_LIMIT_EXCEEDED', 'gcp'],
    ['rate of calls', 'Rate exceeded'],
    ['rate of calls', 'StatusCode: 429'],
    ['rate of calls', 'StatusCode:429', 'azure'],
    ['rate of calls', 'HTTP 429', 'oci'],
    ['rate of calls', 'client rate limiter Wait returned an error: x', 'kubernetes'],
    ['quota', 'VcpuLimitExceeded: x'],
    ['quota', 'AddressLimitExceeded: x'],
    ['quota', 'ServiceQuotaExceededException: x'],
    ['quota', 'exceeded quota: compute', 'kubernetes'],
    ['quota', '400-LimitExceeded, x', 'oci'],
    ['quota', '400-QuotaExceeded, x', 'oci'],
    ['cannot download', 'Failed to resolve provider packages: no such host'],
    ['disk', 'disk quota exceeded'],
    ['disk', 'read-only file system'],
    ['disk', 'cannot allocate memory'],
    ['cannot reach', 'Post "https://iam.amazonaws.com/": EOF'],
    ['cannot reach', 'Post "https://iam.amazonaws.com/": unexpected EOF'],
    ['cannot reach', 'Post "https://sts.amazonaws.com/": proxyconnect tcp: refused'],
    ['cannot reach', 'Post "https://sts.amazonaws.com/": tls: certificate signed by unknown authority'],
    ['cannot reach', 'Get "https://login.microsoftonline.com/": read: connection reset by peer', 'azure'],
    ['cannot reach', 'Get "https://graph.microsoft.com/": 503 Service Unavailable', 'azure'],
    ['cannot reach', 'Get "https://compute.googleapis.com/": 504 Gateway Timeout', 'gcp'],
    ['cannot reach', 'Get "https://compute.googleapis.com/": 504 Gateway Time-out', 'gcp'],
    ['cannot reach', 'Get "http://169.254.169.254/": network is unreachable'],
    ['cannot reach', 'Get "http://metadata.google.internal/": no route to host', 'gcp'],
    ['cannot reach', 'Patch "https://10.0.0.7/version?timeout=32s": context deadline exceeded', 'kubernetes'],
    ['cannot reach', 'Get "https://10.0.0.7/openapi/v2": Client.Timeout exceeded while awaiting headers', 'kubernetes'],
    ['cannot be read', 'error loading state: AccessDenied: x'],
    ['cannot be read', 'Failed to load state: Forbidden'],
    ['cannot be read', 'Error refreshing state: StatusCode: 404'],
    ['cannot be read', 'error configuring the backend "s3": no such host'],
    ['cannot be read', 'Error inspecting states in the "azurerm" backend: AuthorizationPermissionMismatch', 'azure'],
    ['cannot be read', 'Failed to save state: SignatureDoesNotMatch'],
    ['cannot be read', 'Failed to upload state: container "states" not found', 'azure'],
    ['cannot be read', 'Failed to retrieve state: StatusCode:500', 'azure'],
    ['cannot be read', 'Unable to access object in S3 bucket "y": no valid credential sources found'],
  ])('%s: "%s"', (says, text, cloud) => {
    const found = why(`Error: ${text}\n\n`, cloud ? { cloud } : {})
    expect(found).toContain(says)
    expect(found).toMatch(/\. (\w.*, then s|S)end the request again/)
    expect(found).toContain(`The engine said: ${text.replace(/:$/, '')}`)
  })

  it.each<[Cloud, boolean, string]>([
    ['aws', true, 'hashicorp/aws'],
    ['azure', true, 'hashicorp/azurerm hashicorp/azuread Azure/azapi'],
    ['gcp', true, 'hashicorp/google hashicorp/google-beta'],
    ['oci', true, 'oracle/oci hashicorp/oci'],
    ['kubernetes', true, 'hashicorp/kubernetes hashicorp/helm'],
    ['gcp', false, 'hashicorp/aws hashicorp/google-alpha other/hashicorp/google'],
  ])('of the own providers of %s, also when the session introduced them: %s, %s', (cloud, isOwn, providers) => {
    for (const provider of providers.split(' ')) {
      const text = `Error: Failed to install provider\n\nfor provider ${provider}: no such host`
      const after = `provider "${provider.split('/').at(-1)}" {\n}\n`
      expect([why(text, { cloud, after }) !== null, why(text, { cloud }) !== null]).toEqual([isOwn, true])
    }
  })

  it('quotes the engine on one line, without the colon of an empty detail', () => {
    const quoted = (text: string) => why(text)?.split('The engine said: ')[1]
    expect(quoted('Error: No valid credential sources found\n\n')).toBe('No valid credential sources found')
    expect(quoted('Error: No valid credential sources found\n\n a:  b\n\n\tc: d')).toBe(
      'No valid credential sources found: a: b c: d',
    )
    expect(quoted('Error: No valid credential sources found\n\nb: ')).toBe('No valid credential sources found: b')
  })

  it.each([
    [
      'another region',
      'Error: Failed to get existing workspaces: Unable to list objects in S3 bucket "states" with prefix "env:/": ' +
        'operation error S3: ListObjectsV2, https response error StatusCode: 400, RequestID: 18EA, HostID: df9c, ' +
        'api error AuthorizationHeaderMalformed: The authorization header is malformed; the region is wrong; ' +
        "expecting 'us-east-1'.",
    ],
    [
      'a bucket that does not exist',
      'Error: Failed to get existing workspaces: S3 bucket "states" does not exist.\n\n' +
        'The referenced S3 bucket must have been previously created. If the S3 bucket\n' +
        'was created within the last minute, please wait for a minute or two and try\nagain.\n\n' +
        'Error: operation error S3: ListObjectsV2, https response error StatusCode: 404, RequestID: 18EA, HostID: ' +
        'df9c, NoSuchBucket: \n',
    ],
  ])('of the state store: %s', (_, text) => {
    expect(why(text)).toContain('The engine state cannot be read.')
  })

  it.each([
    'registry-unreachable.txt',
    'backend-credentials.txt',
    'backend-unreachable.txt',
  ])('as recorded: %s', async (name) => {
    expect(why(await recorded(name))).not.toBeNull()
  })

  it('are told in a few words of the engine', () => {
    const text = why(`Error: No valid credential sources found\n\n${'x '.repeat(5000)}`) ?? ''
    expect(text.length).toBeLessThan(700)
    expect(text).toContain('No valid credential sources found')
  })
})

describe('errors that the code may have caused', () => {
  it.each<[string, string, Cloud?]>([
    [
      'a resource that may not be read',
      'Error: reading S3 Bucket Policy (x): operation error S3: GetBucketPolicy, https response error ' +
        `StatusCode: 403, api error AccessDenied: Access Denied${RESOURCE}`,
    ],
    [
      'a service that is not switched on',
      'Error: googleapi: Error 403: Cloud Run API has not been used in project 1 before or it is disabled., ' +
        'SERVICE_DISABLED',
      'gcp',
    ],
    [
      'a region that does not exist',
      'Error: Post "https://ec2.eu-wset-1.amazonaws.com/": dial tcp: lookup ec2.eu-wset-1.amazonaws.com: no such host',
    ],
    [
      'a cluster that code names',
      'Error: Get "http://localhost/api/v1/namespaces/shop": dial tcp [::1]:80: connect: connection refused',
      'kubernetes',
    ],
    [
      'a service beside the cluster',
      'Error: Get "https://registry.example.com/v2/": dial tcp 192.0.2.1:443: connect: connection refused',
      'kubernetes',
    ],
    [
      'a cluster where the scope is none',
      'Error: Get "https://10.0.0.7:6443/api/v1/namespaces/shop": dial tcp 10.0.0.7:6443: connect: connection refused',
    ],
    [
      'a limit of the code itself',
      'Error: putting IAM Role Policy: api error LimitExceeded: Cannot exceed quota for PolicySize: 6144',
    ],
    [
      'a provider that does not exist',
      'Error: Failed to query available provider packages\n\n' +
        'Could not retrieve the list of available versions for provider hashicorp/awz:\n' +
        'provider registry registry.terraform.io does not have a provider named\n' +
        'registry.terraform.io/hashicorp/awz',
    ],
    [
      'a version that does not exist',
      'Error: Failed to query available provider packages\n\n' +
        'Could not retrieve the list of available versions for provider hashicorp/aws:\n' +
        'no available releases match the given constraints >= 99.0.0',
    ],
    ['no error at all', 'Warning: No valid credential sources found'],
    ['nothing of a known form', 'engine plan failed'],
    [
      'text about credentials in the code',
      'Error: Invalid value for variable\n\nThe password must not say "access denied" or "timeout".',
    ],
  ])('%s', (_, text, cloud) => {
    expect(why(text, cloud ? { cloud } : {})).toBeNull()
  })

  it.each([
    'undeclared.txt',
    'syntax.txt',
    'runtime.txt',
    'init-syntax.txt',
    'module.txt',
    'cycle.txt',
    'precondition.txt',
  ])('as recorded: %s', async (name) => {
    expect(why(await recorded(name))).toBeNull()
  })

  it('beside a fault of the environment', async () => {
    expect(why(`${await recorded('undeclared.txt')}\nError: No valid credential sources found\n\nx\n`)).toBeNull()
  })

  const CREDENTIALS = 'Error: No valid credential sources found\n\nx'
  const AWS = 'provider "aws" {\n  region = "a"\n}\n'
  const BUCKET = 'resource "aws_s3_bucket" "b" {\n  bucket = "provider"\n}\n'
  it.each<[string, string, string, boolean]>([
    ['a new provider block', '', AWS, true],
    ['a provider block that is gone', AWS, '', true],
    ['a line of a provider block', AWS, AWS.replace('"a"', '"b"'), true],
    ['a block within a provider block', AWS, AWS.replace('\n}', '\n  assume_role {\n  }\n}'), true],
    ['a text of lines like a diff', AWS, AWS.replace('"a"', '<<S\n-- a\n++ b\nS'), true],
    ['the provider of a resource', BUCKET, BUCKET.replace('\n}', '\n  provider = aws.other\n}'), true],
    ['the provider of a new resource', '', BUCKET.replace('\n}', '\n  provider = aws.other\n}'), true],
    ['the providers', '', 'terraform {\n  required_providers {\n  }\n}\n', true],
    ['a backend', 'terraform {\n  backend "s3" {\n    key = "a"\n  }\n}\n', 'terraform {\n}\n', true],
    ['the comments of a provider block', AWS, AWS.replace('\n}', ' # why\n}'), false],
    ['the place of a provider block', `${AWS}${BUCKET}`, `${BUCKET}${AWS}`, false],
    ['an argument with the name of a setting', BUCKET, BUCKET.replace('bucket =', 'profile ='), false],
    ['a bucket', AWS, `${AWS}${BUCKET}`, false],
    ['syntax errors in the code before', 'provider "aws" {\n  region = [\n}\n', AWS, true],
  ])('credentials after a change of %s', (_, before, after, mendable) => {
    expect(why(CREDENTIALS, { before, after }) === null).toBe(mendable)
  })

  it.each([
    ['a variable', AWS.replace('"a"', 'var.v'), true],
    ['a local value that uses it', `${AWS.replace('"a"', 'local.l')}locals {\n  l = { a = upper(var.v) }\n}\n`, true],
    ['another variable', `${AWS.replace('"a"', 'var.w')}variable "w" {}\n`, false],
    ['another argument of that name', AWS.replace('"a"', 'local.var.v'), false],
  ])('credentials after a change of a variable, when the provider refers to %s', (_, provider, mendable) => {
    const [before, after] = ['variable "v" {\n  default = 1\n}\n', 'variable "v" {\n  default = 2\n}\n']
    const others = { 'provider.tf': provider }
    expect(why(CREDENTIALS, { before, after, others }) === null).toBe(mendable)
    const versions = versionsOf({ 'terraform.tfvars': 'v = 1\n' }, { 'terraform.tfvars': 'v = 2\n' })
    expect(blameOf(versions, [{ path: 'provider.tf', text: provider }]).settings).toBe(mendable)
  })

  it('credentials after a change of code that was not read', () => {
    const unread = { from: 'a.tf', to: 'a.tf', before: null, after: null, unread: 'too large' }
    expect(blameOf([unread], []).settings).toBe(true)
    expect(blameOf([{ ...unread, from: 'logo.png', to: 'logo.png' }], []).settings).toBe(false)
  })

  it('a provider in the JSON syntax', () => {
    const json = (region: string) =>
      JSON.stringify({ provider: { aws: { region } }, resource: { random_pet: { a: {} } } })
    const blame = blameOf(versionsOf({ 'a.tf.json': json('a') }, { 'a.tf.json': json('b'), 'b.tf': '' }), [])
    expect([blame.settings, blame.hadObjects, blame.introduces('hashicorp/random')]).toEqual([true, true, false])
    const fresh = blameOf(versionsOf({}, { 'a.tf.json': json('a') }), [])
    expect([fresh.hadObjects, fresh.introduces('hashicorp/random')]).toEqual([false, true])
  })

  const registry = (provider: string) =>
    'Error: Failed to query available provider packages\n\n' +
    `Could not retrieve the list of available versions for provider ${provider}:\n` +
    'could not connect to registry.terraform.io: dial tcp: no such host'
  const REQUIRED =
    'terraform {\n  required_providers {\n    rnd = {\n      source = "hashicorp/random"\n    }\n  }\n}\n'
  it.each<[string, string, boolean]>([
    ['hashicorp/random', 'resource "random_pet" "x" {}\n', true],
    ['hashicorp/random', REQUIRED, true],
    ['hashicorp/random', BUCKET, false],
    ['hashicorp/random', 'resource "terraform_data" "x" {\n  input = "random_pet"\n}\n', false],
    ['hashicorp/aws', BUCKET, false],
    ['registry.example.com/acme/own', 'resource "own_thing" "x" {}\n', true],
  ])('a registry that cannot be reached for %s after %s', (provider, after, mendable) => {
    expect(why(registry(provider), { after }) === null).toBe(mendable)
  })

  const ADDED = 'resource "aws_sqs_queue" "jobs" {\n}\n'
  it.each<[string, string, boolean]>([
    ['has only other providers', 'resource "terraform_data" "a" {}\n', true],
    ['uses it', 'resource "terraform_data" "a" {}\nresource "aws_s3_bucket" "b" {}\n', false],
    ['sets it up', 'resource "terraform_data" "a" {}\nprovider "aws" {}\n', false],
    [
      'requires it',
      'module "a" {}\nterraform {\n  required_providers {\n    aws = {\n      source = "hashicorp/aws"\n    }\n  }\n}\n',
      false,
    ],
    ['has nothing that shows another way', 'terraform {}\n', false],
    ['only speaks of it', 'resource "terraform_data" "a" {\n  input = "aws_s3_bucket"\n}\n', true],
    ['only speaks of it in a comment', 'resource "terraform_data" "a" {}\n/*\nprovider "aws" {\n}\n*/\n', true],
  ])('the own provider of the cloud, which the session introduced, where the code before %s', (_, before, mendable) => {
    expect(why(registry('hashicorp/aws'), { before, after: before + ADDED }) === null).toBe(mendable)
  })
})

it.each([
  'Resource precondition failed',
  'Resource postcondition failed',
  'Module output value precondition failed',
  'Check block assertion failed',
  'Invalid value for variable',
])('takes the message of a condition in the code for words of its author: %s', (summary) => {
  expect(why(`Error: ${summary}\n\nNo valid credential sources found`)).toBeNull()
  expect(why('Error: No valid credential sources found')).not.toBeNull()
})
