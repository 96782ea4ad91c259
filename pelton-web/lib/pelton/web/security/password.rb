# frozen_string_literal: true

module Pelton
  module Web
    # Digests of passwords, by the gem bcrypt, which a Gemfile has to name. Making and checking one takes about a fifth of a second of a processor, on purpose:
    # it is done in a thread, without Ruby's lock, so the loop goes on. (OpenSSL's scrypt and PBKDF2 keep the lock.)
    #
    # bcrypt ignores what follows 72 bytes, and knows no NUL. A password that is longer, or has one, is hashed by HMAC-SHA-384 first.
    module Password
      # Bytes of a password: more is no password but an attempt to keep the server busy.
      MAXIMUM = 1024
      # Bytes that bcrypt takes.
      DIRECT = 72
      # The key keeps a hash of the same password that another site has lost from being a password here.
      KEY = "pelton-web password 1"
      COST = 12
      private_constant :DIRECT, :KEY

      @mutex = Mutex.new
      @cost = COST

      class << self
        # One more takes twice as long. Tests may set the least, 4.
        attr_reader :cost

        # @param cost [Integer] from 4 to 31
        # @raise [ArgumentError]
        def cost=(cost)
          raise ArgumentError, "the cost of a password is 4 to 31, not #{cost.inspect}" unless cost.is_a?(Integer) && cost.between?(4, 31)
          @mutex.synchronize { @cost, @nobody = cost, nil }
        end

        # @return [String] the digest, to be kept
        # @raise [ArgumentError] the password is empty, or longer than {MAXIMUM}
        # @raise [ConfigurationError] the gem is missing
        # @asynchronous
        def digest(password, cost: self.cost)
          raise ArgumentError, "a password has 1 to #{MAXIMUM} bytes" unless fits?(password)
          bcrypt = self.bcrypt
          Pelton.offload { bcrypt.create(shortened(password), cost: cost).to_s }
        end

        # Whether it is the password. It takes as long for a user who does not exist, so nobody learns which users do.
        #
        # @param password [String, nil] what the client has sent
        # @param digest [String, nil] nil: there is no such user
        # @raise [ConfigurationError] the gem is missing
        # @asynchronous
        def right?(password, digest)
          bcrypt = self.bcrypt
          known = digest && bcrypt.valid_hash?(digest)
          Pelton.offload do
            nobody = self.nobody # also for a user who exists: the first time it has to be made
            equal = bcrypt.new(known ? digest : nobody) == (fits?(password) ? shortened(password) : "")
            !!known && fits?(password) && equal
          end
        end

        # @return [Boolean] whether the texts are the same, in a time that does not tell how much of them is
        def same?(one, other) = OpenSSL.secure_compare(one.to_s, other.to_s)

        private

        def fits?(password) = password.is_a?(String) && password.bytesize.between?(1, MAXIMUM)

        def shortened(password)
          return password if password.bytesize <= DIRECT && !password.b.include?("\0")
          [OpenSSL::HMAC.digest("SHA384", KEY, password)].pack("m0")
        end

        # The digest of a password that nobody has.
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
