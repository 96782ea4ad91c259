# frozen_string_literal: true

module Pelton
  module Web
    # Digests of passwords, by the gem bcrypt, which a Gemfile has to name. Making and checking one takes about a fifth of a second of a processor, on purpose:
    # it is done in a thread, so the loop goes on.
    module Password
      # Bytes of a password: bcrypt ignores those behind them.
      MAXIMUM = 72
      COST = 12

      @mutex = Mutex.new

      class << self
        # @param password [String]
        # @param cost [Integer] one more takes twice as long
        # @return [String] the digest, to be kept
        # @raise [ArgumentError] the password is empty, longer than {MAXIMUM}, or contains NUL
        # @raise [ConfigurationError] the gem is missing
        # @asynchronous
        def digest(password, cost: COST)
          raise ArgumentError, "a password has 1 to #{MAXIMUM} bytes, and no NUL" unless fits?(password)
          bcrypt = self.bcrypt
          Pelton.offload { bcrypt.create(password, cost: cost).to_s }
        end

        # Whether it is the password. It takes as long for a user who does not exist, so nobody learns which users do.
        #
        # @param password [String, nil] what the client has sent
        # @param digest [String, nil] nil: there is no such user
        # @return [Boolean]
        # @raise [ConfigurationError] the gem is missing
        # @asynchronous
        def right?(password, digest)
          bcrypt = self.bcrypt
          known = digest && bcrypt.valid_hash?(digest)
          Pelton.offload do
            equal = bcrypt.new(known ? digest : nobody) == (fits?(password) ? password : "")
            !!known && fits?(password) && equal
          end
        end

        # @return [Boolean] whether the texts are the same, in a time that does not tell how much of them is
        def same?(one, other) = OpenSSL.secure_compare(one.to_s, other.to_s)

        private

        def fits?(password) = password.is_a?(String) && password.bytesize.between?(1, MAXIMUM) && !password.include?("\0")

        # The digest of a password that nobody has.
        def nobody = @mutex.synchronize { @nobody ||= bcrypt.create(SecureRandom.hex(16), cost: COST).to_s }

        def bcrypt
          require "bcrypt"
          BCrypt::Password
        rescue LoadError
          raise ConfigurationError, "passwords need the gem bcrypt: add it to your Gemfile, or gem install bcrypt"
        end
      end
    end
  end
end
