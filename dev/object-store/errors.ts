/** An error that is answered in the form of S3. */
export class S3Error extends Error {
  readonly status: number
  readonly code: string
  constructor(status: number, code: string, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

export const denied = (message = 'Access Denied') => new S3Error(403, 'AccessDenied', message)
export const malformed = (message: string) => new S3Error(400, 'InvalidRequest', message)
export const noSuchKey = () => new S3Error(404, 'NoSuchKey', 'The specified key does not exist.')
export const preconditionFailed = () =>
  new S3Error(412, 'PreconditionFailed', 'At least one of the pre-conditions you specified did not hold')
