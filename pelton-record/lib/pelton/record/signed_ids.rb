# frozen_string_literal: true

require "active_support/message_verifier"

module Pelton
  module Record
    # Keys that others may hold but not guess: for links in mails, for example. A signed id names a row, a purpose and perhaps an end.
    # They are ActiveRecord's own, so those that an application has sent before stay valid with the same secret.
    module SignedIds
      SECRET_SIZE = 32 # bytes: those of the digest
      private_constant :SECRET_SIZE

      # @private
      def self.included(model)
        model.extend(ClassMethods)
      end

      # Who signs.
      module ClassMethods
        # Sets the secret of this class and those below it.
        #
        # @example Pelton::Record::Model.signed_id_verifier_secret = -> { ENV.fetch("SIGNED_ID_SECRET") }
        # @param secret [String, Proc] of 32 bytes or more
        attr_writer :signed_id_verifier_secret

        # @param verifier [ActiveSupport::MessageVerifier] instead of one that is made of the secret: with rotated secrets, for example
        attr_writer :signed_id_verifier

        # @private
        def signed_id_verifier_secret = @signed_id_verifier_secret || (superclass.signed_id_verifier_secret if superclass.respond_to?(:signed_id_verifier_secret))

        # @return [ActiveSupport::MessageVerifier]
        # @raise [Error] without a secret, or with a short one
        def signed_id_verifier
          @signed_id_verifier ||= begin
            secret = signed_id_verifier_secret
            secret = secret.call if secret.respond_to?(:call)
            unless secret.is_a?(String) && secret.bytesize >= SECRET_SIZE
              raise Error, "signed ids need a secret of #{SECRET_SIZE} bytes or more: Pelton::Record::Model.signed_id_verifier_secret = ENV.fetch(\"SIGNED_ID_SECRET\")"
            end
            ActiveSupport::MessageVerifier.new(secret, digest: "SHA256", serializer: JSON, url_safe: true)
          end
        end

        # @private
        # A signed id is valid for its class and purpose alone.
        def signed_id_purpose(purpose) = [base_class.name&.underscore, purpose.to_s].compact_blank.join("/")
      end

      # The key, signed. Everyone can read it.
      #
      # @example user.signed_id(purpose: :password_reset, expires_in: 15.minutes)
      # @param purpose [Symbol, String, nil] `find_signed` asks for the same one
      # @param expires_in [Numeric, nil] seconds after which it is not valid any more; nil: it stays valid
      # @param expires_at [Time, nil]
      # @return [String] as it may stand in an address
      # @raise [NotSaved] of a new object
      # @raise [Error] without a secret
      def signed_id(purpose: nil, expires_in: nil, expires_at: nil)
        raise NotSaved.new(self, "a new #{model} has no signed id: save it first") if new?
        model.signed_id_verifier.generate(pk, expires_in: expires_in, expires_at: expires_at, purpose: model.signed_id_purpose(purpose))
      end
    end
  end
end
