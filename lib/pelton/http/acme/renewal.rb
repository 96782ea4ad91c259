# frozen_string_literal: true

require_relative "order"

module Pelton
  module HTTP
    module Acme
      # Renews a folder's certificate when it is due. Each process of a server has one; the folder's lock lets one of
      # them work. Whatever fails is logged, and tried again: the old certificate serves on.
      # @private
      class Renewal
        PAUSE = 60 # seconds between two looks at the certificate
        LONGEST = 21_600 # seconds between two attempts that fail: authorities count them
        private_constant :PAUSE, :LONGEST

        # @param folder [Folder]
        # @param order [#certificate] see {Order}
        # @yield when the folder has a new certificate
        def initialize(folder, order, pause: PAUSE, &renewed)
          @folder = folder
          @order = order
          @pause = pause
          @renewed = renewed
          @failures = 0
        end

        # Works until its task is cancelled.
        #
        # @asynchronous
        def run
          loop { sleep(look || @pause) }
        end

        # @return [Numeric, nil] seconds after which to look again; nil: as usual
        # @asynchronous
        def look
          return unless @folder.due?
          @folder.alone { renew if @folder.due? } # another process may have been faster
        rescue Refused, SystemCallError => error
          pause = pause_after(error)
          served = @folder.placeholder? ? "self-signed one" : "old one"
          Pelton.logger.error("no certificate for #{@folder.names.join(", ")}: #{error.message}; " \
            "the #{served} is served, next attempt in #{pause.ceil} s")
          pause
        end

        private

        def pause_after(error)
          pause = [@pause * 2**@failures, LONGEST].min
          @failures += 1
          wanted = error.retry_after if error.is_a?(Refused)
          (wanted && wanted > pause) ? wanted : pause
        end

        def renew
          @folder.store(*@order.certificate)
          @failures = 0
          Pelton.logger.info("new certificate for #{@folder.names.join(", ")}, until " \
            "#{@folder.certificate.not_after.utc.strftime("%Y-%m-%d %H:%M UTC")}")
          @renewed.call
          nil
        end
      end
    end
  end
end
