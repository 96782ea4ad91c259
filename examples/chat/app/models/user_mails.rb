# frozen_string_literal: true

# Mails about accounts. For now they are only logged, and not in production: write how to send mail into `deliver`. See
# https://github.com/pelton-rb/pelton/blob/main/docs/guides/web_pages.md#mail.
module UserMails
  unless Chat.settings.base_url
    raise Pelton::Web::ConfigurationError, "BASE_URL is not set: links in mails begin with it, as https://chat.example"
  end

  class << self
    def password_reset(user, url)
      deliver(user.email, "A new password", "Follow this link within half an hour to choose a new password:\n\n" \
        "#{url}\n\nIf you have not asked for it, do nothing.\n")
    end

    def password_changed(user)
      deliver(user.email, "Your password has changed",
        "If it was not you, ask for a new password at once: #{Chat.urls.new_password_reset_url}\n")
    end

    # Runs in the background, so it may wait.
    def deliver(address, subject, text)
      if Chat.settings.environment == "production"
        Pelton.logger.warn("no mail \"#{subject}\" was sent: app/models/user_mails.rb does not say how")
      else
        Pelton.logger.info("mail to #{address}: #{subject}\n\n#{text}")
      end
    end
  end
end
