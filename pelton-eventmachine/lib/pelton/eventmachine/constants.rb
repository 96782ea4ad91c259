# frozen_string_literal: true

# Errors and numbers that programs use.
module EventMachine
  # The release of EventMachine whose API this is.
  VERSION = "1.2.7"

  # Raised if a connection cannot be made, or a datagram cannot be sent.
  class ConnectionError < RuntimeError; end
  # Raised if a descriptor is asked of a connection that is closed.
  class ConnectionNotBound < RuntimeError; end
  # Never raised: programs name it in their `rescue`.
  class UnknownTimerFired < RuntimeError; end
  # Raised if the system or Pelton cannot do what was asked.
  class Unsupported < RuntimeError; end
  # Raised if a signature belongs to no open connection or watch.
  class InvalidSignature < RuntimeError; end
  # Never raised: programs name it in their `rescue`.
  class NoHandlerForAcceptedConnection < RuntimeError; end
  class FileNotFoundException < Exception; end # standard:disable Lint/InheritException -- as in EventMachine

  # @return [Hash{Integer => Class}] error classes by their numbers
  ERRNOS = Errno.constants.each_with_object({}) do |name, errors|
    type = Errno.const_get(name)
    errors[type::Errno] ||= type if type.is_a?(Class) && type < SystemCallError
  end.freeze

  # standard:disable Naming/ConstantName -- EventMachine's names
  TimerFired = 100
  ConnectionData = 101
  ConnectionUnbound = 102
  ConnectionAccepted = 103
  ConnectionCompleted = 104
  LoopbreakSignalled = 105
  ConnectionNotifyReadable = 106
  ConnectionNotifyWritable = 107
  SslHandshakeCompleted = 108
  SslVerify = 109

  EM_PROTO_SSLv2 = 2
  EM_PROTO_SSLv3 = 4
  EM_PROTO_TLSv1 = 8
  EM_PROTO_TLSv1_1 = 16
  EM_PROTO_TLSv1_2 = 32
  EM_PROTO_TLSv1_3 = 64
  # standard:enable Naming/ConstantName
end
