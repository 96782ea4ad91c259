# frozen_string_literal: true

module Pelton
  module Web
    # Digests passwords by the gem bcrypt. Making or checking a digest takes about a fifth of a second of CPU time, on
    # purpose, so it runs in a thread without the GVL. (OpenSSL's scrypt and PBKDF2 keep the GVL.)
    #
    # bcrypt ignores everything after 72 bytes, and stops at NUL. A password that is longer, or contains one, is hashed
    # by HMAC-SHA-384 first.
    module Password
      # Bytes. A longer text is no password, but an attempt to keep the server busy.
      MAXIMUM = 1024
      # Bytes that bcrypt uses.
      DIRECT = 72
      # A keyed hash, so that another site's leaked hash of the same password is no password here.
      KEY = "pelton-web password 1"
      COST = 12
      private_constant :DIRECT, :KEY

      @mutex = Mutex.new
      @cost = COST

      class << self
        # @return [Integer] each step doubles the time. Tests may set the minimum, 4
        attr_reader :cost

        # @param cost [Integer] from 4 to 31
        # @raise [ArgumentError]
        def cost=(cost)
          unless cost.is_a?(Integer) && cost.between?(4, 31)
            raise ArgumentError, "the cost of a password is 4 to 31, not #{cost.inspect}"
          end
          @mutex.synchronize { @cost, @nobody = cost, nil }
        end

        # @return [String] the digest, to be stored
        # @raise [ArgumentError] if the password is empty, or longer than {MAXIMUM}
        # @raise [ConfigurationError] if the gem is missing
        # @asynchronous
        def digest(password, cost: self.cost)
          raise ArgumentError, "a password has 1 to #{MAXIMUM} bytes" unless fits?(password)
          bcrypt = self.bcrypt
          Pelton.offload { bcrypt.create(shortened(password), cost: cost).to_s }
        end

        # Whether the password is right. Takes as long for an unknown user, so that the time does not reveal which users
        # exist.
        #
        # @param password [String, nil] from the client
        # @param digest [String, nil] nil if there is no such user
        # @raise [ConfigurationError] if the gem is missing
        # @asynchronous
        def right?(password, digest)
          bcrypt = self.bcrypt
          known = digest && bcrypt.valid_hash?(digest)
          Pelton.offload do
            nobody = self.nobody # also for existing users, because creating it takes time
            equal = bcrypt.new(known ? digest : nobody) == (fits?(password) ? shortened(password) : "")
            !!known && fits?(password) && equal
          end
        end

        # @return [Boolean] whether the texts are equal, in constant time
        def same?(one, other) = OpenSSL.secure_compare(one.to_s, other.to_s)

        private

        def fits?(password) = password.is_a?(String) && password.bytesize.between?(1, MAXIMUM)

        def shortened(password)
          return password if password.bytesize <= DIRECT && !password.b.include?("\0")
          [OpenSSL::HMAC.digest("SHA384", KEY, password)].pack("m0")
        end

        # The digest of a random password.
        def nobody = @mutex.synchronize { @nobody ||= bcrypt.create(SecureRandom.hex(16), cost: @cost).to_s }

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
