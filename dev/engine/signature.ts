/**
 * Checks that a key has signed a document.
 * @param signature detached, in binary form
 * @param publicKey in its text form
 * @throws Error with the reason, also for a signature or a key that cannot be read
 */
export async function verifySignature(
  document: Uint8Array<ArrayBuffer>,
  signature: Uint8Array<ArrayBuffer>,
  publicKey: string,
): Promise<void> {
  // Loaded here, because only a machine without an engine needs it.
  const openpgp = await import('openpgp')
  await openpgp.verify({
    message: await openpgp.createMessage({ binary: document }),
    signature: await openpgp.readSignature({ binarySignature: signature }),
    verificationKeys: await openpgp.readKey({ armoredKey: publicKey }),
    expectSigned: true,
  })
}
