# frozen_string_literal: true

module Pelton
  module HTTP
    module Acme
      # Answers the authority, which asks whether this server has the name (RFC 8555, section 8.3). Everything else goes
      # to the application.
      # @private
      class Challenges
        PREFIX = "/.well-known/acme-challenge/"
        private_constant :PREFIX

        # @param app [#call]
        # @param folder [Folder]
        def initialize(app, folder)
          @app = app
          @folder = folder
        end

        # @return [Array(Integer, Hash, Object)]
        # @asynchronous
        def call(env)
          path = env["PATH_INFO"]
          answer = @folder.challenge(path.delete_prefix(PREFIX)) if path.start_with?(PREFIX)
          if answer
            [200, {"content-type" => "application/octet-stream", "content-length" => answer.bytesize.to_s}, [answer]]
          else
            @app.call(env)
          end
        end
      end
    end
  end
end
