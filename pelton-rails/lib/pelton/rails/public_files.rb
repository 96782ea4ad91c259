# frozen_string_literal: true

module Pelton
  module Rails
    # Leaves an application's files to the server, where it sends them itself (`public` and `x_sendfile` in
    # config/pelton.rb). In other programs, and on other servers, nothing changes.
    module PublicFiles
      class << self
        # @param config [Rails::Application::Configuration]
        # @param serving [Pelton::HTTP::Configuration, nil] of the server that loads the application
        # @param folder [Pathname] Rails.public_path
        def install(config, serving, folder)
          return unless serving
          config.public_file_server.enabled = false if sent_by_server?(serving.public, folder)
          config.action_dispatch.x_sendfile_header ||= "X-Sendfile" if serving.x_sendfile&.any?
        end

        private

        # The server sends nothing that lies behind a link out of its folder, such as Capistrano's public/system: Rails
        # goes on to do so.
        def sent_by_server?(served, folder)
          return false unless served && File.exist?(served) && folder.exist?
          real = folder.realpath.to_s
          real == File.realpath(served) && folder.children.none? { |child| leads_out?(child, real) }
        end

        def leads_out?(child, real)
          return false unless child.symlink?
          child.readlink.absolute? || !child.realpath.to_s.start_with?("#{real}/")
        rescue SystemCallError
          false # it leads nowhere
        end
      end
    end
  end
end
