import { describe, expect, it } from 'vitest'
import { scanHcl, scanJson } from '../../../../sidecars/iac/host-programs/inspect.ts'

const PLACE = {
  workspace: '/work/repo',
  boundary: '/work/repo',
  folder: '/work/repo',
  isOwnOverride: false,
  hasPlainKeys: false,
  overrideFilename: 'backend_override.tf',
  allowedHosts: [],
}
const open = '$' + '{'
const block = (body: string, type = 'kubernetes') =>
  scanHcl(
    `provider "${type}" {\n  exec {\n    api_version = "client.authentication.k8s.io/v1beta1"\n    ${body}\n  }\n}\n`,
    PLACE,
  ).findings[0]?.known
const EKS = '"eks", "get-token", "--cluster-name"'

describe('known credential programs', () => {
  it.each([
    ['aws with a computed name', `command = "aws"\n    args = [${EKS}, module.eks.cluster_name]`],
    ['aws with a template', `command = "aws"\n    args = [${EKS}, "${open}local.name}-x", "--region", "eu-west-1"]`],
    ['aws with joined options', `command = "aws"\n    args = ["eks", "get-token", "--cluster-name=${open}var.x}"]`],
    ['aws with a role', `command = "aws"\n    args = [${EKS}, "a", "--role-arn", var.role, "--output", "json"]`],
    ['aws with a profile', `command = "aws"\n    args = [${EKS}, "a"]\n    env = { AWS_PROFILE = var.profile }`],
    ['aws-iam-authenticator', 'command = "aws-iam-authenticator"\n    args = ["token", "-i", "c", "-r", var.role]'],
    ['an installed program', `command = "/usr/local/bin/aws"\n    args = [${EKS}, "a"]`],
    ['gke-gcloud-auth-plugin', 'command = "gke-gcloud-auth-plugin"'],
    ['kubelogin', 'command = "kubelogin"\n    args = ["get-token", "--login", "spn", "--server-id", "a", "-t", var.t]'],
    ['oci', 'command = "oci"\n    args = ["ce", "cluster", "generate-token", "--cluster-id", var.id]'],
  ])('%s', (_title, body) => {
    for (const type of ['kubernetes', 'kubectl']) expect(block(body, type)).toBe(true)
  })

  it('in helm, as a block, as an object and in JSON', () => {
    const helm = (exec: string) => scanHcl(`provider "helm" {\n  ${exec}\n}\n`, PLACE).findings[0]?.known
    expect(helm(`kubernetes {\n    exec {\n      command = "aws"\n      args = [${EKS}, "a"]\n    }\n  }`)).toBe(true)
    expect(helm(`kubernetes = { exec = { command = "aws", args = [${EKS}, "a"] } }`)).toBe(true)
    const exec = { command: 'aws', args: ['eks', 'get-token', '--cluster-name', `${open}local.x}`] }
    for (const value of [exec, [exec]])
      expect(scanJson(JSON.stringify({ provider: { kubernetes: { exec: value } } }), PLACE).findings[0]?.known).toBe(
        true,
      )
  })

  it.each([
    ['a shell', 'command = "sh"\n    args = ["-c", "aws eks get-token"]'],
    ['a path', `command = "./aws"\n    args = [${EKS}, "a"]`],
    ['an absolute path', `command = "/tmp/aws"\n    args = [${EKS}, "a"]`],
    ['a path that climbs', `command = "/usr/bin/../../tmp/aws"\n    args = [${EKS}, "a"]`],
    ['a folder that others may fill', `command = "/usr/local/share/aws"\n    args = [${EKS}, "a"]`],
    ['a computed command', `command = var.command\n    args = [${EKS}, "a"]`],
    ['a command that is chosen', `command = true ? "sh" : "aws"\n    args = [${EKS}, "a"]`],
    ['a command with a template', `command = "${open}var.x}aws"\n    args = [${EKS}, "a"]`],
    ['a command made by a function', `command = join("", ["a", "ws"])\n    args = [${EKS}, "a"]`],
    ['a name of the language itself', 'command = "constructor"'],
    ['another subcommand', 'command = "aws"\n    args = ["s3", "cp", "a", "b"]'],
    ['no subcommand', 'command = "aws"'],
    ['a computed subcommand', 'command = "aws"\n    args = ["eks", var.sub, "--cluster-name", "a"]'],
    ['computed arguments', 'command = "aws"\n    args = concat(["eks", "get-token"], var.more)'],
    ['a computed word outside of an option', `command = "aws"\n    args = [${EKS}, "a", var.more]`],
    ['an endpoint', `command = "aws"\n    args = [${EKS}, "a", "--endpoint-url", "https://x.invalid"]`],
    ['an abbreviated endpoint', `command = "aws"\n    args = [${EKS}, "a", "--endpoint", "https://x.invalid"]`],
    ['a bundle of certificates', `command = "aws"\n    args = [${EKS}, "a", "--ca-bundle=x.pem"]`],
    ['a file as value', `command = "aws"\n    args = [${EKS}, "file:///etc/passwd"]`],
    ['a joined file as value', 'command = "aws"\n    args = ["eks", "get-token", "--cluster-name=file://x"]'],
    ['an option as value', `command = "aws"\n    args = [${EKS}, "--debug"]`],
    ['an option without its value', `command = "aws"\n    args = [${EKS}]`],
    ['an option made by a template', `command = "aws"\n    args = ["eks", "get-token", "--${open}var.x}=a"]`],
    ['a federated token file', 'command = "kubelogin"\n    args = ["get-token", "--federated-token-file", "x"]'],
    ['another kubelogin', 'command = "kubelogin"\n    args = ["get-token", "--oidc-issuer-url=https://x.invalid"]'],
    [
      'a configuration of its own',
      'command = "oci"\n    args = ["ce", "cluster", "generate-token", "--config-file", "x"]',
    ],
    ['a library to load', `command = "aws"\n    args = [${EKS}, "a"]\n    env = { LD_PRELOAD = "./x.so" }`],
    ['a pager', `command = "aws"\n    args = [${EKS}, "a"]\n    env = { AWS_PAGER = "sh" }`],
    ['a configuration file', `command = "aws"\n    args = [${EKS}, "a"]\n    env = { AWS_CONFIG_FILE = "x" }`],
    ['computed variables', `command = "aws"\n    args = [${EKS}, "a"]\n    env = var.env`],
    ['a computed name of a variable', `command = "aws"\n    args = [${EKS}, "a"]\n    env = { (var.a) = "b" }`],
    ['two commands', `command = "aws"\n    command = "sh"\n    args = [${EKS}, "a"]`],
    ['an unknown member', `command = "aws"\n    args = [${EKS}, "a"]\n    install_hint = "x"`],
  ])('are not: %s', (_title, body) => {
    expect(block(body)).toBe(false)
  })

  it('are not: other providers, dynamic blocks and values that only the engine knows', () => {
    expect(block(`command = "aws"\n    args = [${EKS}, "a"]`, 'own')).toBe(false)
    expect(
      scanHcl('provider "kubernetes" {\n  exec = var.x ? { command = "aws" } : { command = "sh" }\n}\n', PLACE)
        .findings[0]?.known,
    ).toBe(false)
    expect(
      scanHcl(
        'provider "kubernetes" {\n  dynamic "exec" {\n    for_each = [1]\n    content {\n      command = "gke-gcloud-auth-plugin"\n    }\n  }\n}\n',
        PLACE,
      ).findings[0]?.known,
    ).toBe(false)
  })
})
